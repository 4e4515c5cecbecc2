// egress: The metrics and the API of another node of the server, on a range that the operator has allowed.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { deploy, startServer, type TestServer } from '../../support/server.ts';

const FETCH = `export default { name: 'Fetch', version: '1', props: { http: { type: '$.interface.http', customResponse: true } },
  async run(event) {
    const asked = event.body.map((url) => fetch(url).then(({ status }) => status, ({ cause, message }) => cause?.message ?? message));
    await this.http.respond({ status: 200, body: JSON.stringify(await Promise.all(asked)) });
  } };`;

const world = hostile();
let database: TestDatabase;
let nodes: TestServer[] = [];
/** Server that belongs to no tenant, on all addresses of this machine. */
let stranger: Server;
let endpoint: string;
beforeAll(async () => {
  database = await createTestDatabase();
  stranger = createServer((_, response) => void response.writeHead(200, { connection: 'close' }).end());
  await new Promise<void>((resolve) => stranger.listen(0, '0.0.0.0', resolve));
  const options = { databaseUrl: database.url, env: { HEADWATER_EGRESS_ALLOW: '0.0.0.0/0' } };
  nodes = await Promise.all([startServer(options), startServer(options)]);
  endpoint = (await deploy(nodes[0] as TestServer, FETCH)).endpoint;
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  stranger.close();
  await database.drop();
});

async function reach(node: TestServer, urls: string[]): Promise<unknown[]> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(urls) };
  return (await fetch(node.url + new URL(endpoint).pathname, request)).json() as Promise<unknown[]>;
}

it('are reached from no node, at no address of the machine', async () => {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const hosts = ['127.0.0.1', '127.9.9.9', '0.0.0.0', '[::ffff:127.0.0.1]'].concat(
    own.filter(({ family }) => family === 'IPv4').map(({ address }) => address),
  );
  const urls = nodes.flatMap(({ url }) => hosts.map((host) => `http://${host}:${new URL(url).port}/metrics`));
  await world.unharmed(async () => {
    for (const node of nodes) {
      const reached = await reach(node, urls);
      for (const outcome of reached) expect(outcome).toMatch(/not reached from here/);
    }
  });
  expect((await fetch(`${nodes[1]?.url}/metrics`)).status).toBe(200);
});

it('on another machine they are refused at its addresses, and nowhere else', async () => {
  const { port } = stranger.address() as AddressInfo;
  await database.db.sql`
    insert into nodes (id, role, seen_at, addresses, ports)
    values ('node_far', 'all', now() + interval '1 hour', '{127.0.0.9}', array[${port}::int4])`;
  const urls = ['127.0.0.9', '127.0.0.8'].map((host) => `http://${host}:${port}/`);
  const reached = await eventually(async () => {
    const outcomes = await reach(nodes[0] as TestServer, urls);
    return outcomes[0] !== 200 && outcomes;
  });
  expect(reached).toEqual([expect.stringMatching(/not reached from here/), 200]);
});
