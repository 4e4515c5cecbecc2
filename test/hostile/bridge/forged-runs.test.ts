import { describe, expect, it } from 'vitest';
import type { FetchOutcome } from '../../../sandbox-runtime/src/index.ts';
import { outliveForgedRun, runInForgedProcess } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';
import { bundle, freshKey, sandboxForFile, withRun } from '../../support/sandbox-kit.ts';

// process: A process that has been taken over and gives all its requests one number, so that they
// count as a single open one.
describe('requests-of-one-number', () => {
  const world = hostile();

  it('is ended at the second, and the first is aborted', async () => {
    await world.unharmed(async () => {
      const host = recordingHost({ fetch: () => new Promise(() => undefined) });
      const ran = await runInForgedProcess(
        `function attack() {
  const head = JSON.stringify({ url: 'http://127.0.0.1:1/', method: 'GET', redirect: 'error', headers: [] });
  for (let i = 0; i < 200; i++) send(FETCH, 1, '1', head);
}`,
        {},
        host,
      );
      expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
      expect(host.requests.length).toBeLessThanOrEqual(2);
      expect(host.aborted.length).toBe(host.requests.length);
      expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
    });
  });
});

// process: A process that has been taken over and asks for a request whose header has a line break
// in it.
describe('requests-with-smuggled-headers', () => {
  const world = hostile();

  it('the request is not made, and the process is ended', async () => {
    const ran = await world.unharmed(() =>
      runInForgedProcess(`function attack() {
  send(FETCH, 1, '1', JSON.stringify({ url: 'http://a.example/', method: 'GET', redirect: 'follow', headers: [['a', 'b\\r\\nhost: c']] }));
}`),
    );
    expect(ran.outcome).toMatchObject({ ok: false, fault: { code: 'SANDBOX_CRASHED' } });
    expect(ran.host.requests).toEqual([]);
    expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
  });
});

// process: A process that has been taken over and goes on about a run after it has reported its
// end.
describe('words-after-a-forged-end', () => {
  const world = hostile();

  it('the first end counts, and nothing after it', async () => {
    const ran = await world.unharmed(() =>
      runInForgedProcess(`function attack() {
  send(EMIT, 1, '1', META);
  send(OUTCOME, 1, '[1,1]');
  send(EMIT, 1, '2', META);
  send(DB_SET, 1, 'key', '1');
  send(OUTCOME, 1, JSON.stringify([1, 1, 'CPU_LIMIT', false]), 'm', '');
  send(DESCRIBED, 1, '{}');
}`),
    );
    expect(ran.outcome).toMatchObject({ ok: true });
    expect(ran.host.data()).toEqual([1]);
    expect(ran.host.writes).toEqual([]);
    expect(ran).toMatchObject({ other: { ok: true }, otherData: ['honest'] });
  });
});

// process: A process that has been taken over: megabytes of fault, lines without end, NUL in JSON,
// thousands of reads at once.
describe('words-without-measure', () => {
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
});

// process: A process that has been taken over and goes on for itself when its run is over: it
// computes, or it fills the memory.
describe('work-after-the-end', () => {
  const world = hostile();

  const MAX_RSS_MB = 200;
  /** With a heartbeat it was looked at after ten. */
  const WITHIN_MS = 8_000;

  /**
   * By then the computing process runs behind all others, and gets little CPU time on a full
   * machine.
   */
  const COMPUTED_WITHIN_MS = 200_000;

  const PING = 8;
  const ALIVE = `channel.on('data', (piece) => { if (piece[4] === ${PING}) send(PONG, 0); });`;

  it.skipIf(process.platform !== 'linux').each([
    [
      'fills the memory',
      'const kept = []; setInterval(() => kept.length < 8 && kept.push(Buffer.alloc(50_000_000, 1)), 50);',
      WITHIN_MS,
      /^$/,
    ],
    [
      'computes',
      'const burn = () => { const end = Date.now() + 20; while (Date.now() < end); setImmediate(burn); }; burn();',
      COMPUTED_WITHIN_MS,
      /computed without a run/,
    ],
  ])('one that %s is ended soon', async (_what, work, withinMs, reason) => {
    const script = `${ALIVE} function attack() { send(OUTCOME, 1, '[1,1]'); setTimeout(() => { ${work} }, 1_500); }`;
    const [became, said = ''] = await world.unharmed(() => outliveForgedRun(script, MAX_RSS_MB, withinMs));
    expect(became).toBe('ended');
    expect(said).toMatch(reason);
  });
});

// bridge: Runs that abort each of their requests in the moment in which they make it, many at
// once.
describe('requests-aborted-at-once', () => {
  const world = hostile();
  const sandbox = sandboxForFile();

  /** They abort 24 000 requests: a process may say 20 000 words about nothing. */
  const RUNS = 24;
  const WALL_MS = 200_000;
  const CLOSE_MS = 50;

  /** Some connections take a while to close: until then the next requests wait. */
  const closing = (_: unknown, signal: AbortSignal) =>
    new Promise<FetchOutcome>((resolve) => {
      const close = () => setTimeout(resolve, CLOSE_MS, { ok: false, message: 'aborted' }).unref();
      signal.addEventListener('abort', close);
    });

  it('cost no other run of their account its process', async () => {
    const attack = await bundle(
      withRun(`
for (let i = 0; i < 1_000; i++) {
  const controller = new AbortController();
  fetch('https://example.com/', { signal: controller.signal }).catch(() => {});
  controller.abort('at once');
}`),
    );
    const innocent = await bundle(
      `export default { name: 'Innocent', version: '1', props: { db: '$.service.db' }, run() { this.$emit(this.db.get('a')); } };`,
    );
    await world.unharmed(async () => {
      const begun = Promise.withResolvers<void>();
      const attacked = Promise.withResolvers<void>();
      const host = recordingHost();
      host.dbGet = async () => {
        begun.resolve();
        await attacked.promise;
        return '"innocent"';
      };
      const beside = sandbox.run(innocent, { host, wallMs: WALL_MS, props: { db: { kind: 'db' } } as never });
      await Promise.race([begun.promise, beside]);
      const isolateKey = freshKey();
      const attacks = Array.from({ length: RUNS }, () =>
        sandbox.run(attack, { isolateKey, host: recordingHost({ fetch: closing }), cpuMs: 20_000, wallMs: WALL_MS }),
      );
      const ended = await Promise.all(attacks);
      attacked.resolve();
      const { outcome } = await beside;
      expect({ outcome, data: host.data() }).toMatchObject({ outcome: { ok: true }, data: ['innocent'] });
      expect(ended.filter((run) => !run.outcome.ok)).toEqual([]);
      expect(sandbox.get().stats()).toMatchObject({ processes: 1 });
    });
  });
});
