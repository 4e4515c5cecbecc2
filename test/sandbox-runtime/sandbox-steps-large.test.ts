import { expect, test } from 'vitest';
import { longestTurnMs } from '../support/longest-turn.ts';
import { recordingHost } from '../support/run-host.ts';
import { recordingStep, stepInput } from '../support/step-kit.ts';
import { runInForgedProcess } from '../support/hostile-process.ts';

const COUNT = 1_500_000;

test('megabytes of empty lists are not read in one piece', async () => {
  const json = `[${'[],'.repeat(COUNT)}0]`;
  const parse = () =>
    longestTurnMs(async () => {
      JSON.parse(json);
      await new Promise((resolve) => setTimeout(resolve, 5));
    });
  const parsing = Math.min(await parse(), await parse());
  const exported: string[] = [];
  const step = { ...recordingStep().step, export: (_name: string, value: string) => void exported.push(value) };
  const reading = await longestTurnMs(() =>
    runInForgedProcess(
      `function attack() { send(STEP_EXPORT, 1, 'a', '[' + '[],'.repeat(${COUNT}) + '0]'); send(OUTCOME, 1, '[1,1]'); }`,
      { entry: { kind: 'step', input: stepInput() } },
      { ...recordingHost(), step },
    ),
  );
  expect(exported).toEqual([json]);
  expect(reading).toBeLessThan(parsing / 2);
});

test.each([
  ['exports', `send(STEP_EXPORT, 1, 'a', text); send(OUTCOME, 1, '[1,1]')`],
  ['sends', `send(STEP_SEND, 1, 'emit', text); send(OUTCOME, 1, '[1,1]')`],
  ['returns', `send(OUTCOME, 1, '[1,1]', text)`],
])('a long text that is no JSON fails the step that %s it', async (_, call) => {
  const host = {
    ...recordingHost(),
    step: { ...recordingStep().step, export: () => undefined, send: () => undefined },
  };
  const { outcome } = await runInForgedProcess(
    `function attack() { const text = '[' + '0,'.repeat(100000) + '0],"other":1'; ${call}; }`,
    { entry: { kind: 'step', input: stepInput() } },
    host,
  );
  expect(outcome).toMatchObject({
    ok: false,
    fault: { code: 'COMPONENT_ERROR', message: expect.stringContaining('could not be read') },
  });
});
