// tenancy: Reading, using, checking, renaming and deleting a connected account of the neighbour by its id, on every route.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { probeRoutes } from '../../support/hostile-tenancy.ts';

const world = hostile();
const KEY = 'sk_live_of_the_neighbour';
const CODE = `export default { name: 'Steals', version: '1', props: { stripe: { type: 'app', app: 'stripe' } },
  run() { this.$emit(this.stripe.$auth); } };`;

it('the account is as unknown as an id that nobody has', async () => {
  const { attacker, neighbour } = world;
  const made = await neighbour.api('POST', '/connected_accounts', { app: 'stripe', credentials: { api_key: KEY } });
  const id = made.body.data.id as string;
  await world.unharmed(async () => {
    for (const prefix of ['/connected_accounts', '/accounts/{id}']) {
      const probes = await probeRoutes(world, prefix, id);
      expect(probes.length).toBeGreaterThan(1);
      for (const { method, path, foreign, unknown } of probes)
        expect([method, path, foreign]).toEqual([method, path, unknown]);
    }
    const props = { stripe: { authProvisionId: id } };
    const refused = await attacker.api('POST', '/sources', { component_code: CODE, configured_props: props });
    expect([refused.status, refused.body.errors[0].path]).toEqual([400, 'configured_props.stripe']);
    const list = await attacker.api('GET', `/workspaces/${neighbour.id}/accounts`);
    expect(list.status).toBe(404);
  });
  const still = await neighbour.api('GET', `/accounts/${id}?include_credentials=1`);
  expect(still.body.data).toMatchObject({ id, name: null, credentials: { api_key: KEY } });
});

it('an id that gets into the database past the API is worth nothing in a run', async () => {
  const { attacker, neighbour, sql } = world;
  const made = await neighbour.api('POST', '/connected_accounts', { app: 'stripe', credentials: { api_key: KEY } });
  const own = await attacker.api('POST', '/connected_accounts', { app: 'stripe', credentials: { api_key: 'own' } });
  const source = await attacker.deploy(CODE, { stripe: { authProvisionId: own.body.data.id } });
  const props = JSON.stringify({ stripe: { authProvisionId: made.body.data.id } });
  await sql`update sources set configured_props = ${props}::text::jsonb, revision = revision + 1 where id = ${source.id}`;
  await sql`select pg_notify('headwater_source_changed', ${source.id})`;
  const ran = await world.unharmed(() => world.run(source.id));
  expect(ran.events).toEqual([]);
  expect(ran.error).toMatchObject({
    code: 'AUTH_FAILED',
    message: expect.stringContaining('There is no connected account'),
  });
});
