// ingress: Hundreds of requests at once with API keys that are none, each of which has to be looked up, and to paths that are none.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const REQUESTS = 300;

it('are looked up together, over one connection to the database, and refused one by one', async () => {
  const { server, sql } = world;
  const ask = (path: string) =>
    Array.from({ length: REQUESTS }, async (_, nth) => {
      const headers = { authorization: `Bearer hw_${crypto.randomUUID()}_${nth}` };
      return (await fetch(`${server.url}${path}`, { headers })).status;
    });
  await world.unharmed(async () => {
    const asked = await sql.begin(async (tx) => {
      // Nobody finds out meanwhile whose key it is.
      await tx`lock table api_keys in access exclusive mode`;
      const all = ask('/v1/users/me');
      const waiting = () => sql<{ query: string }[]>`
        select query from pg_stat_activity where wait_event_type = 'Lock' and query like '%from api_keys%' and pid <> pg_backend_pid()`;
      await eventually(async () => (await waiting()).length > 0);
      // What was sent has arrived by the time that so many others are answered.
      expect(await Promise.all(ask('/nothing'))).toEqual(Array.from({ length: REQUESTS }, () => 404));
      expect(await waiting()).toHaveLength(1);
      return { all };
    });
    expect(await Promise.all(asked.all)).toEqual(Array.from({ length: REQUESTS }, () => 401));
  });
});
