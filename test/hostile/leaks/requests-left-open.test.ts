// process: A run that returns while its requests wait for servers that never answer.
import { expect, it } from 'vitest';
import { rawServer } from '../../support/hostile-egress.ts';
import { expectNothingKept } from '../../support/hostile-guest.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';
import { bundle, sandboxForFile, withRun } from '../../support/sandbox-kit.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();
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
