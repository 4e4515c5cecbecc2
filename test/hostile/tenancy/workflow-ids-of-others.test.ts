// tenancy: The ids of the neighbour's workflow and of its versions, in every route that takes one.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { comparable, probeRoutes } from '../../support/hostile-tenancy.ts';
import { echo } from '../../support/workflow-steps.ts';

const world = hostile();

it('every route answers as it does for a workflow that does not exist, and nothing happens to it', async () => {
  const { attacker, neighbour } = world;
  const steps = [echo('a', { token: 'of-the-neighbour' })];
  const theirs = (await neighbour.api('POST', '/workflows', { triggers: [{ type: 'http' }], steps })).body.data;
  const own = (await attacker.api('POST', '/workflows', {})).body.data;
  const before = await neighbour.api('GET', `/workflows/${theirs.id}`);
  await world.unharmed(async () => {
    const probes = await probeRoutes(world, '/workflows', theirs.id);
    expect(probes.length).toBeGreaterThanOrEqual(6);
    for (const { method, path, foreign, unknown } of probes)
      expect([method, path, foreign]).toEqual([method, path, unknown]);
    const unknownId = `${(theirs.deployment_id as string).slice(0, -6)}zzzzzz`;
    for (const ask of [
      (id: string) => attacker.api('GET', `/workflows/${own.id}?deployment_id=${id}`),
      (id: string) => attacker.api('POST', `/workflows/${own.id}/deploy`, { deployment_id: id }),
    ]) {
      const [foreign, unknown] = [await ask(theirs.deployment_id), await ask(unknownId)];
      expect(foreign.status).toBe(404);
      expect(comparable(foreign, theirs.deployment_id)).toEqual(comparable(unknown, unknownId));
    }
  });
  expect((await neighbour.api('GET', `/workflows/${theirs.id}`)).text).toBe(before.text);
});
