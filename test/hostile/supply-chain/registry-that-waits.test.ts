// builder: A registry that takes requests and never answers.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Builder, createBuilder } from '@headwater/sandbox-runtime';
import { expect, it } from 'vitest';
import { oneFile } from '../../support/build-kit.ts';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

// With a builder of its own: the server waits for a minute.
it('ends the build at its time limit, and components without packages are saved meanwhile', async () => {
  const cacheDir = await mkdtemp(path.join(tmpdir(), 'headwater-packages-'));
  const small = { tenantId: 'o_neighbour', component: oneFile('export default 1;') };
  const buildMs = Math.ceil(3_000 + 5 * (await timeOfBuild(cacheDir, small)));
  const builder = createBuilder({ cacheDir, registryUrl: chain.registry.url, limits: { buildMs } });
  chain.registry.instead = () => true;
  try {
    const outcome = await chain.world.unharmed(async () => {
      const waiting = builder.build({ tenantId: 'o_attacker', component: oneFile("import x from 'silent';") });
      const other = await builder.build(small);
      expect(other.ok).toBe(true);
      return waiting;
    });
    expect(outcome).toMatchObject({
      ok: false,
      errors: [{ message: expect.stringContaining('the registry did not answer before the time of this build') }],
    });
  } finally {
    await builder.stop();
    await rm(cacheDir, { recursive: true, force: true });
  }
});

/** The time of a first build, on this machine at this moment. */
async function timeOfBuild(cacheDir: string, component: Parameters<Builder['build']>[0]): Promise<number> {
  const builder = createBuilder({ cacheDir, registryUrl: chain.registry.url });
  const beganMs = performance.now();
  try {
    expect((await builder.build(component)).ok).toBe(true);
    return performance.now() - beganMs;
  } finally {
    await builder.stop();
  }
}
