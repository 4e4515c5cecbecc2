// process: A process that has been taken over and puts out characters of three bytes, as many as a limit has bytes.
import { expect, it } from 'vitest';
import type { RunEntry } from '../../../sandbox-runtime/src/sandbox-types.ts';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';
import { recordingStep, stepInput } from '../../support/step-kit.ts';

const world = hostile();

const RUN: RunEntry = { kind: 'run', event: '{}' };
const STEP: RunEntry = { kind: 'step', input: stepInput() };
const text = (chars: number) => `JSON.stringify('€'.repeat(${chars}))`;
const CALLS: Record<string, [call: string, entry: RunEntry]> = {
  'an event': [`send(EMIT, 1, ${text(1_000_000)}, META)`, RUN],
  'all events': [`for (let i = 0; i < 8; i++) send(EMIT, 1, ${text(300_000)}, META)`, RUN],
  'a log line': [`send(LOG, 1, '1:1', '€'.repeat(16_000))`, RUN],
  'a key to set': [`send(DB_SET, 1, '€'.repeat(1000), '1')`, RUN],
  'a key to read': [`send(DB_GET, 1, '1', '€'.repeat(1000))`, RUN],
  'a value': [`send(DB_SET, 1, 'k', ${text(60_000)})`, RUN],
  'a value of a data store': [
    `send(DATA_STORE, 1, '1', '{"storeId":"ds_a","op":"set","key":"k"}', ${text(1_000_000)})`,
    RUN,
  ],
  'what is sent': [`for (let i = 0; i < 6; i++) send(STEP_SEND, 1, 'http', ${text(400_000)})`, STEP],
  'the context of a rerun': [`send(STEP_FLOW, 1, '{"kind":"rerun","ms":0,"maxRetries":1}', ${text(4_000_000)})`, STEP],
  'what a step returns': [`send(OUTCOME, 1, '[1,1]', ${text(4_000_000)})`, STEP],
};

it('each of them ends the process, and no other run notices', async () => {
  await world.unharmed(async () => {
    for (const [name, [call, entry]] of Object.entries(CALLS)) {
      const host = { ...recordingHost(), step: recordingStep().step };
      const ran = await runInForgedProcess(
        `function attack() { ${call}; send(OUTCOME, 1, '[1,1]'); }`,
        { entry },
        host,
      );
      expect([name, ran.outcome]).toMatchObject([name, { ok: false, fault: { code: 'SANDBOX_CRASHED' } }]);
      expect(ran.otherData).toEqual(['honest']);
    }
  });
});
