import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { fetchEach, NOT_PUBLIC, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { ADMIN_KEY, deploy, post, startServer, type TestServer } from '../../support/server.ts';
import { startTunnelProxy, type TunnelProxy } from '../../support/tunnel-proxy.ts';

// egress: Loopback in octal, hexadecimal, as one number, with parts left out, and in wide digits.
describe('loopback-spellings', () => {
  const world = hostile();
  const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')), '0.0.0.0');

  /** Ways to write `127.<second>.0.1`. */
  function spellings(second: number): string[] {
    const [rest, whole] = [second * 2 ** 16 + 1, 127 * 2 ** 24 + second * 2 ** 16 + 1];
    const [hex, octal] = [second.toString(16), second.toString(8)];
    const wide = String(second).replaceAll(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
    return [
      `127.${second}.1`,
      `127.${rest}`,
      String(whole),
      `0x${whole.toString(16)}`,
      `0x7f.0x${hex}.0x0.0x1`,
      `0x7f.${rest}`,
      `0177.0${octal}.0.1`,
      `0177.0${octal}.0.01`,
      `0${whole.toString(8)}`,
      `127.${second}.0.1.`,
      `%31%32%37.${second}.0.1`,
      `１２７.${wide}.０.１`,
      `127。${second}。0。1`,
      `①②⑦.${second}.⓪.①`,
    ];
  }

  const urlsOf = (second: string | undefined) =>
    spellings(Number(second)).map((host) => `http://${host}:${server.port}/`);

  it('is refused before anything is connected, where it is not allowed', async () => {
    const urls = urlsOf(PRIVATE_LOOPBACK.split('.')[1]);
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(`${PRIVATE_LOOPBACK} is not a public address`);
    expect(server.connections()).toBe(0);
  });

  it('is reached in the same spellings where it is allowed', async () => {
    const { reached } = await fetchEach(world, urlsOf('0'));
    expect(new Set(reached.map(({ status }) => status))).toEqual(new Set([200]));
    expect(reached).toHaveLength(urlsOf('0').length);
  });
});

// egress: The port of the database, on a range that the operator has allowed, in every spelling of
// this machine.
describe('database-port', () => {
  const world = hostile();

  it('is never reached', async () => {
    const { port } = new URL(world.server.databaseUrl);
    const hosts = ['127.0.0.1', '127.0.0.2', '2130706433', '0177.0.0.1', '[::ffff:7f00:1]'];
    const urls = hosts.map((host) => `http://${host}:${port}/`);
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(/not reached from here/));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(/not reached from here/);
  });
});

// egress: The API of the node, on a range that the operator has allowed, in every spelling of this
// machine.
describe('own-listening-port', () => {
  const world = hostile();
  const REFUSED = /not reached from here|not a public address/;

  it('is never reached', async () => {
    const { port } = new URL(world.server.url);
    const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const hosts = ['127.0.0.1', '127.9.9.9', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '0.0.0.0', '[::1]'].concat(
      own.filter(({ family }) => family === 'IPv4').map(({ address }) => address),
    );
    const urls = hosts.map((host) => `http://${host}:${port}/v1/users/me`);
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(REFUSED));
    expect(ran.reached).toEqual([]);
    expect(ran.messages[0]).toMatch(/not reached from here/);
  });
});

// egress: The metrics and the API of another node of the server, on a range that the operator has
// allowed.
describe('ports-of-other-nodes', () => {
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
    stranger = createServer((_, answer) => void answer.writeHead(200, { connection: 'close' }).end());
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
});

// egress: Names that stand for this machine, towards the port of the API.
describe('localhost-names', () => {
  const world = hostile();
  // Whether the name has addresses that are allowed here is the machine's affair; the port is
  // refused in any case.
  const REFUSED = /not reached from here|No public address was found/;

  it('lead nowhere', async () => {
    const { port } = new URL(world.server.url);
    const names = ['localhost', 'localhost.', 'LocalHost', 'api.localhost', 'a.b.localhost.', 'localhost.localdomain'];
    const urls = names.map((name) => `http://${name}:${port}/healthz`);
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(REFUSED));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(REFUSED);
  });
});

// egress: The operator’s proxy as a target of its own: a connection to it would be a way out
// without a guard.
describe('proxy-as-a-target', () => {
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

  it("is not reachable by tenants, and the neighbour's requests go through it", async () => {
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
});
