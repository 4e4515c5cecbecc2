// process: Runs that put out megabytes and end while a request of theirs is open, again and again.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';
import { bundle, sandboxForFile, soon, withRun } from '../../support/sandbox-kit.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();
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
