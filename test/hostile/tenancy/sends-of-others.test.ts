// tenancy: The neighbour's execution, sends and S3 settings in every route that takes one of them.
import { expect, it } from 'vitest';
import { sendEach } from '../../support/hostile-sends.ts';
import { comparable, probeRoutes } from '../../support/hostile-tenancy.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are answered as what does not exist, and nothing happens to them', async () => {
  const settings = { region: 'eu-central-1', access_key_id: 'AKIANEIGHBOUR', secret_access_key: 'neighbours-secret' };
  await world.neighbour.api('PUT', '/sends/s3', settings);
  const [send] = await sendEach({ attacker: world.neighbour, sql: world.sql }, [
    ['email', { subject: 'a', text: 'b' }],
  ]);
  const [row] = await world.sql<
    { execution_id: string }[]
  >`select execution_id from sends where id = ${send?.id ?? ''}`;
  const executionId = row?.execution_id ?? '';
  const probes = await world.unharmed(() => probeRoutes(world, '/sends', send?.id ?? ''));
  expect(probes.map(({ path }) => path)).toContain('/sends/{id}/retry');
  for (const { foreign, unknown } of probes) {
    expect(foreign).toMatchObject({ status: 404 });
    expect(foreign).toEqual(unknown);
  }
  const foreign = await world.attacker.api('GET', `/executions/${executionId}/sends`);
  const unknown = await world.attacker.api('GET', '/executions/exec_00000000000000000000/sends');
  expect(foreign.status).toBe(404);
  expect(comparable(foreign, executionId)).toEqual(comparable(unknown, 'exec_00000000000000000000'));
  expect((await world.attacker.api('GET', '/sends/s3')).status).toBe(404);
  await world.attacker.api('DELETE', '/sends/s3');
  const kept = await world.neighbour.api('GET', '/sends/s3');
  expect(kept.body.data).toMatchObject({ access_key_id: 'AKIANEIGHBOUR' });
  expect(kept.text).not.toContain('neighbours-secret');
});
