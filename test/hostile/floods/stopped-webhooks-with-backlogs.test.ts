// fairness: Accounts that delete webhooks and discard what waits for them, all at once, with tens of thousands of deliveries each.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { makeTenant, type Tenant } from '../../support/hostile-tenant.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

/** Webhooks of each of three accounts: in total more than a node's places for REST requests. */
const WEBHOOKS = 2;
const PENDING = 20_000;

async function withBacklog(tenant: Tenant): Promise<string> {
  const { id } = (await tenant.api('POST', '/webhooks', { url: 'http://127.0.0.1:99/' })).body.data as { id: string };
  await world.sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, next_attempt_at)
    select ${`dlv_${id.slice(3)}`} || lpad(n::text, 8, '0'), ${tenant.id}, ${id}, 'dc_gone', 1000 + n, 0, now() + interval '1 day'
    from generate_series(1, ${PENDING}::int4) n`;
  return id;
}

const pendingOf = async (id: string) => {
  const [row] = await world.sql<{ n: number }[]>`
    select count(*)::int4 as n from deliveries where webhook_id = ${id} and status = 'pending'`;
  return row?.n;
};

it('keep nobody from the REST API meanwhile, the same account least of all, and all of it is cancelled', async () => {
  const { attacker, neighbour, server } = world;
  const others = await Promise.all([makeTenant(server, 'second attacker'), makeTenant(server, 'third attacker')]);
  await world.unharmed(async () => {
    const hooks: { tenant: Tenant; id: string }[] = [];
    for (const tenant of [attacker, ...others])
      for (let n = 0; n < WEBHOOKS; n++) hooks.push({ tenant, id: await withBacklog(tenant) });
    const answered: number[] = [];
    const stops = hooks.map(async ({ tenant, id }, nth) => {
      const path = `/webhooks/${id}`;
      const answer = nth % 2 === 0 ? tenant.api('POST', `${path}/discard`) : tenant.api('DELETE', path);
      answered.push((await answer).status);
    });
    const begun = () => world.sql`
      select from deliveries where webhook_id = any(${hooks.map(({ id }) => id)}::text[]) and status = 'cancelled' limit 1`;
    await eventually(async () => (await begun()).length > 0);
    for (const tenant of [neighbour, attacker])
      for (let n = 0; n < 3; n++) expect((await tenant.api('GET', '/webhooks')).status).toBe(200);
    expect(answered).toEqual([]);
    await Promise.all(stops);
    expect(answered.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 204, 204, 204]);
    expect(await Promise.all(hooks.map(({ id }) => pendingOf(id)))).toEqual(hooks.map(() => 0));
  });
});
