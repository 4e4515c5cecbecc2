import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { drip, rawServer } from '../../support/hostile-egress.ts';
import { expectNothingKept } from '../../support/hostile-guest.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';
import { recordingHost } from '../../support/run-host.ts';
import { bundle, sandboxForFile, soon, withRun } from '../../support/sandbox-kit.ts';

// process: A run that returns in the middle of answers that never end.
describe('answers-left-unread', () => {
  const world = hostile({ ownAccounts: true });
  const server = rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n');
    drip(socket, 'a');
  });

  it('their connections are closed with the run', async () => {
    // A run waits for its requests until its time is over.
    await world.limit({ timerRunWallMs: 2_000 });
    const ran = await world.unharmed(() =>
      world.attack(`
      for (let i = 0; i < 10; i++) fetch('${server.url}').then((answer) => answer.text()).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 300));
      this.$emit('gone');`),
    );
    expect(ran.error).toBeUndefined();
    await expect.poll(server.open).toBe(0);
  });
});

// process: An interval, an endless chain of timers and one of promises that are to live on after
// the run.
describe('intervals-after-the-end', () => {
  const world = hostile({ ownAccounts: true });

  it('they end with the run, and a later one does not find them at work', async () => {
    const later = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(`
      let ticks = 0;
      export default { name: 'Zombie', version: '1', async run(event) {
        if (event.arm) {
          setInterval(() => { ticks += 1 }, 1).unref();
          (function again() { ticks += 1; setTimeout(again, 1).unref() })();
          return;
        }
        const before = ticks;
        await new Promise((resolve) => setTimeout(resolve, 200));
        this.$emit(ticks - before);
      } };`);
      await world.run(id, { arm: true });
      return world.run(id, {});
    });
    expect(later.error).toBeUndefined();
    expect(later.events).toEqual([0]);
  });
});

// process: A run that returns while its requests wait for servers that never answer.
describe('requests-left-open', () => {
  const world = hostile({ ownAccounts: true });
  const sandbox = sandboxForFile();
  const server = rawServer(() => undefined);

  it('their connections are closed with the run', async () => {
    // A successful run waits this long for its open requests.
    await world.limit({ timerRunWallMs: 2_500 });
    const ran = await world.unharmed(() =>
      withinMemory(world.server, () =>
        world.attack(`
      for (let i = 0; i < 20; i++) fetch('${server.url}/' + i).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 300));
      this.$emit('gone');`),
      ),
    );
    expect(ran.error).toBeUndefined();
    expect(ran.events).toContain('gone');
    await expect.poll(server.open).toBe(0);
  });

  it.runIf(process.platform === 'linux')('nothing of them stays in the sandbox process', async () => {
    // Each has a megabyte with it; all that are left open would be 220.
    const component = await bundle(
      withRun(`for (let i = 0; i < 20; i++) fetch('https://example.com/', { method: 'POST', body: new Uint8Array(1e6) }).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 10));
      throw new Error('over');`),
    );
    await world.unharmed(() =>
      expectNothingKept(longRun(6, 12), async () => {
        const host = recordingHost({
          fetch: (_, signal) =>
            new Promise((resolve) => {
              signal.addEventListener('abort', () => resolve({ ok: false, message: 'aborted' }));
            }),
        });
        const { outcome } = await sandbox.run(component, {
          host,
          isolateKey: 'dc_open:1',
          cpuMs: 60_000,
          wallMs: 120_000,
        });
        // One that fails waits for nothing.
        expect(outcome).toMatchObject({ ok: false, fault: { message: 'over' } });
      }),
    );
  });
});

// process: Runs that put out megabytes and end while a request of theirs is open, again and again.
describe('runs-with-open-requests', () => {
  const world = hostile({ ownAccounts: true });
  const sandbox = sandboxForFile();
  const ROUNDS = longRun(2, 4);
  const AT_ONCE = 5;
  /** Each run waits so long for its request. */
  const WALL_MS = 2_000;

  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;

  it('nothing of them stays with the node', async () => {
    const component = await bundle(
      withRun(`console.log('x'.repeat(10_000)); fetch('https://example.com/').catch(() => {});`),
    );
    const hosts: WeakRef<object>[] = [];
    const runOnce = async () => {
      const host = recordingHost({
        fetch: (_, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve({ ok: false, message: 'aborted' }));
          }),
      });
      hosts.push(new WeakRef(host));
      const { outcome } = await sandbox.run(component, { host, isolateKey: 'dc_open:1', wallMs: WALL_MS });
      expect(outcome.ok).toBe(true);
    };
    await world.unharmed(async () => {
      for (let round = 0; round < ROUNDS; round++) await Promise.all(Array.from({ length: AT_ONCE }, runOnce));
    });
    // Work in progress may still refer to the last one.
    await soon(() => {
      collect();
      return hosts.filter((host) => host.deref() !== undefined).length;
    }).toBeLessThanOrEqual(1);
  });
});

// isolate: A run that returns and leaves a hundred thousand awaited promises behind, again and
// again.
describe('promises-that-never-settle', () => {
  const world = hostile({ ownAccounts: true });
  const sandbox = sandboxForFile();
  const UNSETTLED = `
export default { name: 'Unsettled', version: '1', run() {
  for (let i = 0; i < 1e5; i++) void (async () => { const own = [i, i]; await new Promise(() => {}); return own; })();
  this.$emit('left');
} };`;

  it('they are garbage once the run is over', async () => {
    await world.limit({ memoryMb: 64 });
    const runs = await world.unharmed(() =>
      withinMemory(world.server, async () => {
        const { id } = await world.attacker.deploy(UNSETTLED);
        const outcomes = [];
        for (let i = 0; i < 6; i++) outcomes.push(await world.run(id));
        return outcomes;
      }),
    );
    // Six of them together would not fit into the isolate.
    expect(runs.map((run) => run.error)).toEqual(Array(6).fill(undefined));
    expect(runs.at(-1)?.events).toEqual(Array(6).fill('left'));
  });

  it.runIf(process.platform === 'linux')('nothing of them stays in the sandbox process', async () => {
    const component = await bundle(UNSETTLED);
    await world.unharmed(() =>
      expectNothingKept(10, async () => {
        const { host } = await sandbox.run(component, { isolateKey: 'dc_unsettled:1', cpuMs: 60_000, wallMs: 120_000 });
        expect(host.data()).toEqual(['left']);
      }),
    );
  });
});
