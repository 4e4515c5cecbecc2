// egress: The operator’s proxy as a target of its own: whoever talks to it has a way out without a guard.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { ADMIN_KEY, deploy, post, startServer, type TestServer } from '../../support/server.ts';
import { startTunnelProxy, type TunnelProxy } from '../../support/tunnel-proxy.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';

const FETCH = `export default { name: 'Fetch', version: '1', props: { http: '$.interface.http' },
  async run(event) {
    for (const url of event.body.urls) {
      this.$emit(await fetch(url).then(({ status }) => ({ url, status }), ({ cause, message }) => ({ url, message: cause?.message ?? message })));
    }
  } };`;

const world = hostile();
let database: TestDatabase;
let proxy: TunnelProxy;
let receiver: Receiver;
let server: TestServer;
beforeAll(async () => {
  [database, proxy, receiver] = await Promise.all([createTestDatabase(), startTunnelProxy(), startReceiver()]);
  const env = { HEADWATER_EGRESS_PROXY: `http://gate:secret@127.0.0.1:${proxy.port}` };
  server = await startServer({ databaseUrl: database.url, env });
});
afterAll(async () => {
  await server.stop();
  await Promise.all([proxy.stop(), receiver.stop()]);
  await database.drop();
});

async function reach(key: string, urls: string[]): Promise<{ url: string; status?: number; message?: string }[]> {
  const source = await deploy(server, FETCH, { key });
  await post(source.endpoint, { urls });
  return eventually(async () => {
    const { body } = await server.api('GET', `/sources/${source.id}/event_summaries?expand=event`, undefined, key);
    const events = body.data.map(({ event }: { event: unknown }) => event);
    return events.length === urls.length && events;
  });
}

it('is reached by nobody, and the neighbour’s requests go through it', async () => {
  const [attacker, neighbour] = await Promise.all(
    ['attacker', 'neighbour'].map(async (name) => {
      const made = await server.api('POST', '/accounts', { name }, ADMIN_KEY);
      return made.body.data.api_key as string;
    }),
  );
  const hosts = ['127.0.0.1', '127.1', '[::ffff:127.0.0.1]', '0.0.0.0', '[::1]', 'localhost'];
  let attacks = 0;
  await world.unharmed(async () => {
    attacks += 1;
    const refused = await reach(
      attacker ?? '',
      hosts.map((host) => `http://${host}:${proxy.port}/`),
    );
    for (const outcome of refused) {
      expect(outcome).toMatchObject({
        message: expect.stringMatching(/not reached from here|not a public address|No public address/),
      });
      expect(JSON.stringify(outcome)).not.toMatch(/secret|gate/);
    }
  });
  expect(proxy.asked).toEqual([]);
  expect(await reach(neighbour ?? '', [`${receiver.url}/`])).toMatchObject([{ status: 200 }]);
  expect(proxy.asked).toHaveLength(1);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(await database.db.sql`select from events`).toHaveLength(attacks * hosts.length + 1);
});
