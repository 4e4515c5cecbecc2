import { describe, expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import { sampleCases } from '../../support/long-run.ts';
import { recordingHost } from '../../support/run-host.ts';
import { recordingStep, stepInput } from '../../support/step-kit.ts';

// bridge: Options and prop definitions that are malformed, nested without end or huge, and answers
// without a question.
describe('answers-of-any-shape', () => {
  const world = hostile();

  const OPTIONS = { kind: 'options', prop: 'city', page: 0 } as const;
  const PROPS = { kind: 'additional-props', previousPropDefs: '{}' } as const;
  const RUN = { kind: 'run', event: '{}' } as const;

  const answer = (expression: string) => `function attack() { send(OUTCOME, 1, '[1,1]', ${expression}); }`;
  const deep = (inner: string) => `'${inner.replace('#', `' + '['.repeat(50000) + ']'.repeat(50000) + '`)}'`;

  it('malformed answers do not reach the caller', async () => {
    await world.unharmed(async () => {
      for (const text of [
        `'{'`,
        `'null'`,
        `'{"options":{}}'`,
        `'{"options":[1]}'`,
        `'{"options":[{"label":1,"value":1}]}'`,
        `'"' + 'x'.repeat(2000000) + '"'`,
        deep('{"options":[{"label":"a","value":#}]}'),
      ]) {
        const { outcome } = await runInForgedProcess(answer(text), { entry: OPTIONS });
        expect(outcome).toMatchObject({
          ok: false,
          fault: { code: 'COMPONENT_ERROR', message: expect.stringContaining('city') },
        });
      }
      for (const text of [
        `'[]x'`,
        `'5'`,
        `'{"props":[]}'`,
        `'{"props":{"__proto__":"string"}}'`,
        `'{"props":{"a":{"type":"app[]"}}}'`,
        deep('{"props":{"a":{"type":"string","default":#}}}'),
      ]) {
        const { outcome } = await runInForgedProcess(answer(text), { entry: PROPS });
        expect(outcome).toMatchObject({ ok: false, fault: { code: 'COMPONENT_ERROR' } });
      }
      const extra = await runInForgedProcess(answer(`'{"options":[{"label":"a","value":1,"$sealed":"x"}],"more":1}'`), {
        entry: OPTIONS,
      });
      expect(extra.outcome).toMatchObject({ ok: true, result: '{"options":[{"label":"a","value":1}]}' });
    });
  });

  it('an answer without a question, a missing answer and output of a form end the process', async () => {
    await world.unharmed(async () => {
      for (const [script, entry] of [
        [answer(`'{"options":[]}'`), RUN],
        [`function attack() { send(OUTCOME, 1, '[1,1]'); }`, OPTIONS],
        [`function attack() { send(EMIT, 1, '1', META); }`, OPTIONS],
        [`function attack() { send(DB_SET, 1, 'k', '1'); }`, PROPS],
        [`function attack() { send(RESPOND, 1, '{"status":200,"headers":[]}', ''); }`, PROPS],
      ] as const) {
        const ran = await runInForgedProcess(script, { entry });
        expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
        expect([ran.host.events, ran.host.writes, ran.host.responses]).toEqual([[], [], []]);
        expect(ran.otherData).toEqual(['honest']);
      }
    });
  });
});

// bridge: Exports, sends, answers and ends of a step with reserved names, broken JSON, times
// without end, and told twice.
describe('step-outputs-of-any-shape', () => {
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

  it('a result of a step that is not JSON fails the step', async () => {
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
});

// bridge: Calls on data stores with unknown operations, values of the wrong type, huge ones, and a
// thousand at once.
describe('store-calls-of-any-shape', () => {
  const world = hostile();

  const CALLS = {
    'an unknown operation': `send(DATA_STORE, 1, '1', JSON.stringify({ storeId: 'ds_own', op: 'drop' }))`,
    'an operation of the prototype': `send(DATA_STORE, 1, '1', JSON.stringify({ storeId: 'ds_own', op: 'constructor' }))`,
    'a key that is no string': `send(DATA_STORE, 1, '1', JSON.stringify({ storeId: 'ds_own', op: 'get', key: { a: 1 } }))`,
    'a key without end': `send(DATA_STORE, 1, '1', JSON.stringify({ storeId: 'ds_own', op: 'get', key: 'x'.repeat(100000) }))`,
    'a ttl that is none': `send(DATA_STORE, 1, '1', JSON.stringify({ storeId: 'ds_own', op: 'set', key: 'a', ttlSeconds: 'soon' }), '1')`,
    'a value of megabytes': `send(DATA_STORE, 1, '1', JSON.stringify({ storeId: 'ds_own', op: 'set', key: 'a' }), 'x'.repeat(8000000))`,
    'a head that is no JSON': `send(DATA_STORE, 1, '1', '{')`,
    'no head': `send(DATA_STORE, 1, '1')`,
    'a call without a number': `send(DATA_STORE, 1, 'one', JSON.stringify({ storeId: 'ds_own', op: 'keys' }))`,
    'a thousand calls at once': `for (let i = 0; i < 1000; i++) send(DATA_STORE, 1, String(i), JSON.stringify({ storeId: 'ds_own', op: 'keys' }))`,
  };

  it('each of them ends the process, and no other run notices', async () => {
    const props = { ds: { kind: 'data-store', id: 'ds_own' } } as const;
    await world.unharmed(async () => {
      for (const call of Object.values(CALLS)) {
        let most = 0;
        const host = recordingHost({
          dataStore: () => {
            most += 1;
            return new Promise(() => undefined);
          },
        });
        const ran = await runInForgedProcess(`function attack() { ${call}; }`, { props }, host);
        expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
        expect(most).toBeLessThanOrEqual(16);
        expect(ran.otherData).toEqual(['honest']);
      }
    });
  });
});

// bridge: Times and ids of emitted events that are no time and no id, or the largest number there
// is.
describe('times-and-ids-out-of-range', () => {
  const world = hostile();

  it('are taken as they are or as none, or refused, and the run commits', async () => {
    const ran = await world.unharmed(() =>
      world.attack(`
let taken = 0;
for (const value of [1e300, -1e300, 8.64e15 + 1, Number.MAX_VALUE, 5e-324, -0, NaN, Infinity, 2 ** 53, {}, [], null, true, '9'.repeat(400)])
  for (const options of [{ ts: value }, { id: value }, { summary: value }]) try { this.$emit('x', options); taken += 1; } catch {}
this.$emit(taken > 20);`),
    );
    expect(ran.error).toBeUndefined();
    expect(ran.events).toContain(true);
  });
});
