import type { RunOutcome } from '@headwater/sandbox-runtime';
import type { ExceededLimit } from '@headwater/shared';
import { describe, expect, test } from 'vitest';
import { recordingHost } from '../support/run-host.ts';
import { bundle, freshKey, sandboxForFile, soon, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

function limitOf(outcome: RunOutcome): ExceededLimit | undefined {
  return outcome.ok ? undefined : outcome.fault.limit;
}

describe('CPU time', () => {
  const loops: [title: string, body: string][] = [
    ['a synchronous loop', `for (;;);`],
    ['a loop after an await', `await new Promise((resolve) => setTimeout(resolve, 5)); for (;;);`],
    ['a loop after a request', `try { await fetch('http://a.example/') } catch {} for (;;);`],
    ['a loop of microtasks', `for (;;) await null;`],
    ['a loop in a timer', `setTimeout(() => { for (;;); }, 1); await new Promise(() => {})`],
    ['a loop in toJSON of an event', `this.$emit({ toJSON() { for (;;); } })`],
    ['a loop in a getter of a thrown error', `throw { get message() { for (;;); } }`],
    ['a loop in prepareStackTrace', `Error.prepareStackTrace = () => { for (;;); }; throw new Error('x')`],
    ['a regular expression without end', `/^(a+)+$/.test('a'.repeat(40) + 'b')`],
  ];
  test.each(loops)('%s ends at the limit', async (_title, body) => {
    const { outcome, host } = await sandbox.run(withRun(`this.$emit('before'); ${body}`), {
      cpuMs: 300,
      // Beside other work, code that computes gets little of a processor.
      wallMs: 60_000,
    });
    expect(outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'CPU_LIMIT' } });
    expect(limitOf(outcome)).toMatchObject({ name: 'runCpuMs', value: 300 });
    expect(limitOf(outcome)?.used).toBeGreaterThan(300);
    expect(outcome.cpuMs).toBeGreaterThanOrEqual(300);
    expect(host.data()).toEqual(['before']);
  });

  test('waiting costs no CPU time', async () => {
    const { outcome } = await sandbox.run(withRun(`await new Promise((resolve) => setTimeout(resolve, 1_000))`), {
      cpuMs: 500,
    });
    expect(outcome).toMatchObject({ ok: true });
  });

  test('the run that loops is blamed, the others of its isolate may run again', async () => {
    const component = await bundle(
      withRun(
        `await new Promise((r) => setTimeout(r, 20)); if (event.loop) for (;;); await new Promise((r) => setTimeout(r, 3000))`,
      ),
    );
    const isolateKey = freshKey();
    const [good, bad] = await Promise.all([
      sandbox.run(component, { isolateKey, event: {}, cpuMs: 300 }),
      sandbox.run(component, { isolateKey, event: { loop: true }, cpuMs: 300 }),
    ]);
    expect(bad.outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'CPU_LIMIT' } });
    expect(good.outcome).toMatchObject({ ok: false, innocent: true });
  });

  test('after its isolate was ended a component runs in a new one', async () => {
    const component = await bundle(withRun(`if (event.loop) for (;;); this.$emit('fine')`));
    const isolateKey = freshKey();
    await sandbox.run(component, { isolateKey, event: { loop: true }, cpuMs: 200 });
    const { outcome, host } = await sandbox.run(component, { isolateKey });
    expect(outcome.ok).toBe(true);
    expect(host.data()).toEqual(['fine']);
  });
});

describe('wall time', () => {
  test('a run that waits too long ends; its isolate stays and its later output counts for nothing', async () => {
    const component = await bundle(
      withRun(
        `count += 1; this.$emit(count); if (event.wait) { await new Promise((r) => setTimeout(r, 3000)); this.$emit('late'); console.log('late') }`,
        'let count = 0;',
      ),
    );
    const isolateKey = freshKey();
    const [late, other] = await Promise.all([
      sandbox.run(component, { isolateKey, event: { wait: true }, wallMs: 1_000 }),
      sandbox.run(component, { isolateKey, event: { wait: true } }),
    ]);
    expect(late.outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'WALL_LIMIT' } });
    expect(limitOf(late.outcome)).toMatchObject({ name: 'timerRunWallMs', value: 1_000 });
    expect(other.outcome.ok).toBe(true);
    // The other one waits as long as the late one would have.
    expect(late.outcome.wallMs).toBeLessThan(other.outcome.wallMs);
    expect(late.host.data()).toEqual([1]);
    expect(late.host.logs).toEqual([]);
    expect((await sandbox.run(component, { isolateKey })).host.data()).toEqual([3]);
  });

  test('requests of a run that ends at its limit are aborted', async () => {
    const host = recordingHost({ fetch: () => new Promise(() => undefined) });
    const { outcome } = await sandbox.run(withRun(`await fetch('http://slow.example/')`), { host, wallMs: 200 });
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'WALL_LIMIT' } });
    await soon(() => host.aborted).toEqual(['http://slow.example/']);
  });

  test('a read of the store that never answers does not hold up the isolate beyond its run', async () => {
    const component = await bundle(withRun(`if (event.read) this.db.get('x'); this.$emit('ok')`));
    const isolateKey = freshKey();
    const props = { db: { kind: 'db' } } as const;
    const host = { ...recordingHost(), dbGet: () => new Promise<undefined>(() => undefined) };
    const { outcome } = await sandbox.run(component, { isolateKey, host, props, event: { read: true }, wallMs: 200 });
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'WALL_LIMIT' } });
    expect((await sandbox.run(component, { isolateKey, props })).host.data()).toEqual(['ok']);
  });

  test('a loop whose CPU limit lies beyond its wall limit ends at the wall limit', async () => {
    const component = await bundle(withRun(`if (event.loop) for (;;); this.$emit('ok')`));
    const isolateKey = freshKey();
    const { outcome } = await sandbox.run(component, { isolateKey, event: { loop: true }, cpuMs: 60_000, wallMs: 300 });
    expect(outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'WALL_LIMIT' } });
    await soon(async () => (await sandbox.run(component, { isolateKey, wallMs: 2_000 })).outcome.ok).toBe(true);
  });
});

describe('memory', () => {
  /** The fuller a heap is, the longer V8 collects before it gives up: seconds for the default. */
  const BOMB_MB = 24;
  const bombs: [title: string, body: string][] = [
    ['objects', `const kept = []; for (;;) kept.push({ x: [1, 2, 3] })`],
    ['arrays', `const kept = []; for (;;) kept.push(new Array(1e6).fill(1.5))`],
    ['a Map', `const kept = new Map(); for (let i = 0; ; i++) kept.set(i, i)`],
    ['properties', `const kept = {}; for (let i = 0; ; i++) kept['k' + i] = i`],
    ['promises', `const again = () => Promise.resolve().then(again); again(); await new Promise(() => {})`],
  ];
  test.each(bombs)('a bomb of %s ends that run and nothing else', async (_title, body) => {
    const other = sandbox.run(withRun(`await new Promise((r) => setTimeout(r, 1000)); this.$emit('fine')`), {
      tenantId: 'o_other',
    });
    const bomb = (alone: boolean) =>
      sandbox.run(withRun(`this.$emit('before'); ${body}`), {
        memoryMb: BOMB_MB,
        cpuMs: 60_000,
        wallMs: 120_000,
        tenantId: 'o_bomb',
        alone,
      });
    // On a full machine, the process may end before it reports the cause. Such a run starts again,
    // alone.
    const first = await bomb(false);
    const isJudged = first.outcome.ok || !first.outcome.innocent;
    const { outcome, host } = isJudged ? first : await bomb(true);
    expect(outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'MEMORY_LIMIT' } });
    expect(limitOf(outcome)).toEqual({ name: 'memoryMb', value: BOMB_MB, used: BOMB_MB });
    expect(host.data()).toEqual(['before']);
    expect((await other).host.data()).toEqual(['fine']);
    expect((await sandbox.run(withRun(`this.$emit('again')`), { tenantId: 'o_bomb' })).host.data()).toEqual(['again']);
  });

  test('buffers over the limit end the run that asked for them', async () => {
    const { outcome } = await sandbox.run(withRun(`const kept = []; for (;;) kept.push(new Uint8Array(1e6).fill(1))`), {
      memoryMb: 64,
    });
    expect(outcome).toMatchObject({
      ok: false,
      fault: { code: 'MEMORY_LIMIT', limit: { name: 'memoryMb', value: 64 } },
    });
  });

  test('a leak that fills a warm isolate over many runs is not held against the last of them', async () => {
    const component = await bundle(
      withRun(`for (let i = 0; i < 20; i++) kept.push(new Array(1e5).fill(1.5))`, 'const kept = [];'),
    );
    const isolateKey = freshKey();
    for (let i = 0; i < 20; i++) {
      const { outcome } = await sandbox.run(component, { isolateKey, memoryMb: 64 });
      if (outcome.ok) continue;
      expect(outcome).toMatchObject({ fault: { code: 'MEMORY_LIMIT' }, innocent: true });
      return;
    }
    expect.unreachable('the isolate never filled up');
  });
});

describe('output', () => {
  test('events over the total end the run, and those before it stay', async () => {
    const { outcome, host } = await sandbox.run(
      withRun(`for (let i = 0; i < 20; i++) { try { this.$emit('x'.repeat(500000)) } catch {} }`),
    );
    expect(outcome).toMatchObject({ ok: false, innocent: false, fault: { code: 'OUTPUT_LIMIT' } });
    expect(host.events).toHaveLength(12);
  });

  test('a run emits at most 10 000 events', async () => {
    const { outcome, host } = await sandbox.run(withRun(`for (let i = 0; i < 10001; i++) this.$emit(i)`));
    expect(outcome).toMatchObject({
      ok: false,
      fault: {
        code: 'OUTPUT_LIMIT',
        message: 'The run emitted 10 001 events; the limit maxEmitsPerRun is 10 000',
        limit: { name: 'maxEmitsPerRun', value: 10_000, used: 10_001 },
      },
    });
    expect(host.events).toHaveLength(10_000);
  });

  test('one stretch of code makes so many calls to the platform', async () => {
    const { outcome } = await sandbox.run(
      withRun(`for (let i = 0; i < 30000; i++) clearTimeout(setTimeout(() => {}, 1000))`),
    );
    expect(outcome).toMatchObject({
      ok: false,
      fault: { code: 'RESOURCE_LIMIT', limit: { name: 'maxCallsPerTurn', value: 20_000, used: 20_001 } },
    });
  });

  test('log lines over the limit are dropped with a word, and a long line is cut', async () => {
    const { outcome, host } = await sandbox.run(
      withRun(`console.log('ü'.repeat(20000)); for (let i = 0; i < 5000; i++) console.log(i)`),
    );
    expect(outcome.ok).toBe(true);
    expect(host.logs).toHaveLength(1_001);
    expect(Buffer.byteLength(host.logs[0]!.message)).toBeLessThanOrEqual(16 * 1024);
    expect(host.logs[0]).toMatchObject({
      level: 'info',
      message: expect.stringMatching(/ü… \(cut\)$/),
      limit: { name: 'maxLogLineBytes', value: 16_384, used: 40_000 },
    });
    expect(host.logs[1]).not.toHaveProperty('limit');
    expect(host.logs.at(-1)).toMatchObject({
      level: 'warn',
      message: 'Further log lines are dropped; the limit maxLogLinesPerRun is 1000',
      limit: { name: 'maxLogLinesPerRun', value: 1_000, used: 1_001 },
    });
  });

  test('timers and requests are bounded', async () => {
    const { host } = await sandbox.run(
      withRun(`
        try { for (let i = 0; i < 2000; i++) setTimeout(() => {}, 1000).unref() } catch (e) { this.$emit(e.message) }
        const results = await Promise.allSettled(Array.from({ length: 33 }, () => fetch('http://a.example/')));
        this.$emit(results.filter((r) => r.reason?.limit?.name === 'maxFetchesPerRun').length);`),
      { account: { maxFetchesPerRun: 32 } },
    );
    expect(host.data()).toEqual(['The run has 1 001 timers open; the limit maxTimersPerRun is 1 000', 1]);
  });
});
