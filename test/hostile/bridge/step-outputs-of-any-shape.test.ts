// bridge: Exports, sends, answers and ends of a step with reserved names, broken JSON, times without end, and told twice.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';
import { recordingStep, stepInput } from '../../support/step-kit.ts';
import { sampleCases } from '../../support/long-run.ts';

const world = hostile();

const flow = (action: unknown) => `send(STEP_FLOW, 1, ${JSON.stringify(JSON.stringify(action))})`;
const CALLS = {
  'an export under what the step returns': `send(STEP_EXPORT, 1, '$return_value', '1')`,
  'an export under the prototype': `send(STEP_EXPORT, 1, '__proto__', '{"polluted":true}')`,
  'an export without a name': `send(STEP_EXPORT, 1, '', '1')`,
  'an export with a name of a megabyte': `send(STEP_EXPORT, 1, 'x'.repeat(1000000), '1')`,
  'an export that is no JSON': `send(STEP_EXPORT, 1, 'a', '1,"other":2')`,
  'an export without a value': `send(STEP_EXPORT, 1, 'a')`,
  'an export beyond the output of a run': `send(STEP_EXPORT, 1, 'a', JSON.stringify('x'.repeat(7000000)))`,
  'exports without end': `for (let i = 0; i < 10000; i++) send(STEP_EXPORT, 1, 'a' + i, JSON.stringify('x'.repeat(1000)))`,
  'a send of an unknown kind': `send(STEP_SEND, 1, 'constructor', '{}')`,
  'a send that is no JSON': `send(STEP_SEND, 1, 'emit', '{')`,
  'more sends than allowed': `for (let i = 0; i < 101; i++) send(STEP_SEND, 1, 'emit', '{}')`,
  'an unknown end': flow({ kind: 'toString' }),
  'an end that is no object': flow('exit'),
  'a delay of a thousand years': flow({ kind: 'delay', ms: 1000 * 365 * 86_400_000 }),
  'a delay that is no number': flow({ kind: 'delay', ms: '5' }),
  'a delay into the past': flow({ kind: 'suspend', ms: -1 }),
  'a rerun a million times': flow({ kind: 'rerun', ms: 0, maxRetries: 1_000_000 }),
  'a rerun with a context that is no JSON': `send(STEP_FLOW, 1, '{"kind":"rerun","ms":0,"maxRetries":1}', '{')`,
  'a reason without end': flow({ kind: 'exit', reason: 'x'.repeat(10_000) }),
  'a reason that is no text': flow({ kind: 'exit', reason: {} }),
  'two ends': `${flow({ kind: 'exit' })}; ${flow({ kind: 'delay', ms: 1 })}`,
  'two answers': `for (let i = 0; i < 2; i++) send(STEP_RESPOND, 1, '{"status":200,"headers":[]}', 'x', '')`,
  'an answer with a smuggled header': `send(STEP_RESPOND, 1, '{"status":200,"headers":[["a","b\\\\r\\\\nc: d"]]}', 'x', 'now')`,
  'an answer with a status that is none': `send(STEP_RESPOND, 1, '{"status":99,"headers":[]}', 'x', 'now')`,
};

it('each of them ends the process, and no other run notices', async () => {
  await world.unharmed(async () => {
    for (const [name, call] of sampleCases(Object.entries(CALLS), 2)) {
      const { step, record } = recordingStep();
      const host = { ...recordingHost(), step };
      const ran = await runInForgedProcess(
        `function attack() { ${call}; send(OUTCOME, 1, '[1,1]'); }`,
        { entry: { kind: 'step', input: stepInput() } },
        host,
      );
      expect([name, ran.outcome]).toMatchObject([name, { ok: false, fault: { code: 'SANDBOX_CRASHED' } }]);
      expect(record.sends.length).toBeLessThanOrEqual(100);
      expect(JSON.stringify(record.exports).length).toBeLessThan(6_291_456);
      expect(ran.otherData).toEqual(['honest']);
    }
  });
});

it('what a step returns is JSON, or the step has failed', async () => {
  const ran = await world.unharmed(() =>
    runInForgedProcess(
      `function attack() { send(OUTCOME, 1, '[1,1]', '{"a":'); }`,
      { entry: { kind: 'step', input: stepInput() } },
      { ...recordingHost(), step: recordingStep().step },
    ),
  );
  expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'COMPONENT_ERROR' } });
});

it.each([
  ['an export', `send(STEP_EXPORT, 1, 'large', LARGE); send(OUTCOME, 1, '[1,1]');`],
  ['a result', `send(OUTCOME, 1, '[1,1]', LARGE);`],
])('%s beyond its own limit is not taken', async (_, script) => {
  const { step, record } = recordingStep();
  const ran = await world.unharmed(() =>
    runInForgedProcess(
      `const LARGE = '"' + 'x'.repeat(6.5e6) + '"'; function attack() { ${script} }`,
      { entry: { kind: 'step', input: stepInput() } },
      { ...recordingHost(), step },
    ),
  );
  expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
  expect(record.exports).toEqual([]);
});

it('a run that is no step has none of it', async () => {
  const said = [`send(STEP_EXPORT, 1, 'a', '1')`, `send(STEP_SEND, 1, 'emit', '{}')`, flow({ kind: 'exit' })];
  await world.unharmed(async () => {
    for (const call of said) {
      const { step, record } = recordingStep();
      const ran = await runInForgedProcess(`function attack() { ${call}; }`, {}, { ...recordingHost(), step });
      expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
      expect(record).toEqual({ exports: [], sends: [], flows: [], props: [], responses: [] });
    }
  });
});
