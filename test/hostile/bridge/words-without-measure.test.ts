// process: A process that has been taken over: megabytes of fault, lines without end, NUL in JSON, thousands of reads at once.
import { expect, it } from 'vitest';
import { runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';

const world = hostile();

const CALLS = {
  'a fault with a message of megabytes': `send(OUTCOME, 1, '[1,1,"COMPONENT_ERROR",false]', 'x'.repeat(15_000_000), '')`,
  'a fault with a stack of megabytes': `send(OUTCOME, 1, '[1,1,"COMPONENT_ERROR",false]', 'x', 'x'.repeat(15_000_000))`,
  'a log line of megabytes': `send(LOG, 1, '1:1', 'x'.repeat(5_000_000))`,
  'a log line with a limit of its own making': `send(LOG, 1, '2:1:maxLogLineBytes:1:99', 'x')`,
  'a log line with a limit that cuts no lines': `send(LOG, 1, '2:1:runCpuMs:10000:10001', 'x')`,
  'an event that no database takes': `send(EMIT, 1, '"\\0"', META)`,
  'a value that no database takes': `send(DB_SET, 1, 'key', '"\\0"')`,
};

it('is ended, and nothing of them is taken', async () => {
  await world.unharmed(async () => {
    for (const [what, call] of Object.entries(CALLS)) {
      const ran = await runInForgedProcess(`function attack() { ${call}; send(OUTCOME, 1, '[1,1]'); }`);
      expect({ what, ...ran.outcome }).toMatchObject({ what, ok: false, fault: { code: 'SANDBOX_CRASHED' } });
      expect([what, ran.host.events, ran.host.logs, ran.host.writes]).toEqual([what, [], [], []]);
      expect(ran.otherData).toEqual(['honest']);
    }
  });
});

it('reads are made one after the other, as by an isolate', async () => {
  let reads = 0;
  const host = { ...recordingHost(), dbGet: () => ((reads += 1), new Promise<undefined>(() => undefined)) };
  const ran = await world.unharmed(() => {
    reads = 0;
    return runInForgedProcess(
      `function attack() { for (let call = 1; call < 9_000; call++) send(DB_GET, 1, String(call), 'key' + call); }`,
      {},
      host,
    );
  });
  expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
  expect(reads).toBeLessThan(10);
  expect(ran.otherData).toEqual(['honest']);
});
