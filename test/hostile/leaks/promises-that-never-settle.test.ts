// isolate: A run that returns and leaves a hundred thousand awaited promises behind, again and again.
import { expect, it } from 'vitest';
import { expectNothingKept } from '../../support/hostile-guest.ts';
import { withinMemory } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';
import { bundle, sandboxForFile } from '../../support/sandbox-kit.ts';

const world = hostile();
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
