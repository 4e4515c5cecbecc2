// ingress: Hundreds of links of executions and of OAuth flows at once, which nobody has made and which need no key.
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const REQUESTS = 300;
const TOKEN_CHARS = 32;
const TABLES = ['execution_waits', 'oauth_states'];
const PATHS = ['resume', 'cancel'].map(
  (action) => (id: string) => `/${action}/ex_${id}/1-1-${'x'.repeat(TOKEN_CHARS)}`,
);

it('are looked up a few at a time, and are none', async () => {
  const { server, sql } = world;
  const ask = async (path: string) => (await fetch(server.url + path)).status;
  await world.unharmed(async () => {
    const asked = await sql.begin(async (tx) => {
      await tx`lock table ${tx(TABLES[0] as string)}, ${tx(TABLES[1] as string)} in access exclusive mode`;
      const all = Array.from({ length: REQUESTS }, (_, nth) => {
        const random = randomBytes(32).toString('base64url');
        const path = PATHS[nth % (PATHS.length + 1)];
        return ask(path?.(random) ?? `/oauth/callback?code=1&state=${random}`);
      });
      const waiting = () => sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and pid <> pg_backend_pid()
          and (query like '%execution_waits%' or query like '%oauth_states%')`;
      await eventually(async () => (await waiting()).length >= PATHS.length);
      // Others are asked of the same connections.
      expect((await world.neighbour.api('GET', '/users/me')).status).toBe(200);
      // Those, and what the node counts there from time to time.
      expect((await waiting()).length).toBeLessThanOrEqual(7);
      return { all };
    });
    for (const status of await Promise.all(asked.all)) expect([400, 404]).toContain(status);
  });
});
