import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { answerName, nameWith, questionsFor } from '../../support/hostile-dns.ts';
import { fetchEach, NOT_PUBLIC, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';

// egress: Names of metadata services, as the resolver of a cloud's machine knows them.
describe('cloud-metadata-by-name', () => {
  const world = hostile();
  const NAMES: Record<string, string> = {
    'metadata.google.internal': '169.254.169.254',
    'instance-data.ec2.internal': 'fd00:ec2::254',
    'metadata.azure.internal': '168.63.129.16',
    'metadata.test': '::ffff:169.254.169.254',
  };
  /** Without a dot it is the machine's own affair whether it leads anywhere. */
  const SHORT = 'metadata';

  beforeAll(async () => {
    for (const [name, address] of Object.entries(NAMES)) await answerName(name, { addresses: [address] });
  });

  it('are refused, in the words of a name that does not exist', async () => {
    const init = { headers: { 'metadata-flavor': 'Google' } };
    const requests = [...Object.keys(NAMES), SHORT].map((name): [string, object] => [
      `http://${name}/computeMetadata/v1/`,
      init,
    ]);
    const ran = await world.unharmed(() => fetchEach(world, requests));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) {
      expect(message).toMatch(/^fetch failed: No public address was found/);
      expect(message).not.toMatch(/169\.254|ec2::254|168\.63/);
    }
    for (const name of Object.keys(NAMES)) expect((await questionsFor(name)).A).toBeGreaterThan(0);
  });
});

// egress: A public name that is an alias (CNAME) of one with a private address.
describe('cname-to-private-address', () => {
  const world = hostile();
  const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')), '0.0.0.0');

  const urlOf = async (alias: string, address: string) =>
    `http://${await nameWith({ alias, addresses: [address] })}:${server.port}/`;

  it('is judged by where the alias ends', async () => {
    const ran = await world.unharmed(async () =>
      fetchEach(world, [
        await urlOf('inside.test', PRIVATE_LOOPBACK),
        await urlOf('inside.test', '10.0.0.7'),
        await urlOf('localhost', '::1'),
      ]),
    );
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
    expect(server.connections()).toBe(0);
    const outside = await fetchEach(world, [await urlOf('outside.test', '127.0.0.1')]);
    expect(outside.reached).toMatchObject([{ status: 200 }]);
  });
});

// egress: A name that has a public address when it is checked, and a private one at every later
// question.
describe('dns-rebinding', () => {
  const world = hostile();
  const reached: (string | undefined)[] = [];
  // Each answer ends the connection, so that the next request makes one.
  const server = rawServer((socket) => {
    reached.push(socket.localAddress);
    socket.end(response('content-length: 2\r\n', 'ok'));
  }, '0.0.0.0');

  it('is connected at the address that was checked, and checked again for the next connection', async () => {
    const ran = await world.unharmed(async () => {
      const name = await nameWith({ addresses: ['127.0.0.1'] }, { addresses: [PRIVATE_LOOPBACK] });
      const url = `http://${name}:${server.port}/`;
      const first = await fetchEach(world, [url]);
      const asked = await questionsFor(name);
      return { first, asked, later: await fetchEach(world, [url, url]) };
    });
    expect(ran.first.reached).toMatchObject([{ status: 200 }]);
    expect(ran.asked).toEqual({ A: 1, AAAA: 1 });
    expect(ran.later.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.later.reached).toEqual([]);
    expect(new Set(reached)).toEqual(new Set(['127.0.0.1']));
  });
});

// egress: The operator’s DNS server as a target of its own, on a range that is allowed: it knows
// the names of the operator’s network.
describe('dns-server-as-a-target', () => {
  const world = hostile();
  const REFUSED = /not reached from here/;

  it('is not reachable', async () => {
    const port = world.server.dnsServer.split(':')[1];
    const ran = await world.unharmed(async () => {
      const name = await nameWith({ addresses: ['127.0.0.1'] });
      const hosts = ['127.0.0.1', '127.1', '127.9.9.9', '[::ffff:127.0.0.1]', name];
      return fetchEach(
        world,
        hosts.map((host) => `http://${host}:${port}/`),
      );
    });
    expect(ran.error).toMatchObject(refusedRun(REFUSED));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(REFUSED);
  });
});

// egress: A name with hundreds of public addresses, for one request to knock at all of them.
describe('hundreds-of-addresses', () => {
  const world = hostile();
  const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));
  /** Nothing listens at these. */
  const MANY = Array.from({ length: 300 }, (_, i) => `127.1.${Math.floor(i / 200)}.${i % 200}`);

  async function urlWithServerAt(place: number): Promise<string> {
    return `http://${await nameWith({ addresses: MANY.toSpliced(place, 0, '127.0.0.1') })}:${server.port}/`;
  }

  it('is tried at a few of them', async () => {
    const ran = await world.unharmed(async () =>
      fetchEach(world, await Promise.all([8, 9, 100, 300].map(urlWithServerAt))),
    );
    expect(ran.error).toMatchObject({
      code: 'COMPONENT_ERROR',
      message: expect.stringMatching(/refused the connection/),
    });
    expect(ran.reached).toEqual([]);
    expect(server.connections()).toBe(0);
  });

  it('is reached where one of the first eight answers', async () => {
    const { reached } = await fetchEach(world, await Promise.all([0, 7].map(urlWithServerAt)));
    expect(reached).toMatchObject([{ status: 200 }, { status: 200 }]);
  });
});

// egress: A public name that resolves to a private address.
describe('name-with-private-address', () => {
  const world = hostile();
  const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')), '0.0.0.0');
  const PRIVATE = [
    '10.0.0.7',
    PRIVATE_LOOPBACK,
    '192.168.0.1',
    '0.0.0.0',
    '::1',
    'fd00::1',
    `::ffff:${PRIVATE_LOOPBACK}`,
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
  ];

  it('is refused in the words of a name that does not exist', async () => {
    const { names, ran } = await world.unharmed(async () => {
      const known = await Promise.all(PRIVATE.map((address) => nameWith({ addresses: [address] })));
      const all = [`unknown-${known[0]}`, ...known];
      const urls = all.map((name) => `http://${name}:${server.port}/`);
      return { names: all, ran: await fetchEach(world, urls) };
    });
    expect(ran.error).toMatchObject(refusedRun(/No public address was found/));
    expect(ran.reached).toEqual([]);
    const words = ran.messages.map((message, index) => message.replace(names[index] ?? '', 'name.test'));
    expect(new Set(words).size).toBe(1);
    expect(words[0]).toMatch(/^fetch failed: No public address was found for name\.test/);
    expect(server.connections()).toBe(0);
  });

  it('is reached where its address is allowed', async () => {
    const names = await Promise.all(
      ['127.0.0.1', '::ffff:127.0.0.1'].map((address) => nameWith({ addresses: [address] })),
    );
    const { reached } = await fetchEach(
      world,
      names.map((name) => `http://${name}:${server.port}/`),
    );
    expect(reached).toMatchObject([{ status: 200 }, { status: 200 }]);
  });
});

// egress: Names whose server never answers, more of them than the process has threads to ask with.
describe('names-that-never-resolve', () => {
  const NAMES = 40;
  const world = hostile();
  const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));

  const ASK = `const outcomes = await Promise.allSettled(event.names.map((name) => fetch('http://' + name + '/')));
this.$emit({ answered: outcomes.filter(({ status }) => status === 'fulfilled').length });
throw outcomes[0].reason;`;
  const FETCH = `export default { name: 'Fetch', version: '1', props: { http: { type: '$.interface.http', customResponse: true } },
  async run(event) {
    const { status } = await fetch(event.query.url);
    this.http.respond({ status });
  } };`;

  it('do not delay the names of other tenants', async () => {
    await world.limit({ fetchTimeoutMs: 2_000, maxFetchesInFlightPerRun: NAMES });
    const { endpoint } = await world.neighbour.deploy(FETCH);
    const { ran, served } = await world.unharmed(async () => {
      const names = await Promise.all(Array.from({ length: NAMES }, () => nameWith('silent')));
      const asking = world.attack(ASK, { event: { names } });
      await eventually(async () => (await questionsFor(names.at(-1) ?? '')).A > 0);
      const name = await nameWith({ addresses: ['127.0.0.1'] });
      const answer = await fetch(`${endpoint}?url=${encodeURIComponent(`http://${name}:${server.port}/`)}`);
      return { ran: await asking, served: answer.status };
    });
    expect(served).toBe(200);
    expect(ran.events).toEqual([{ answered: 0 }]);
    // How long the resolver asks depends on how fast names were answered before.
    const { code, limit, message = '' } = ran.error ?? {};
    const isTimeout = code === 'RESOURCE_LIMIT' && limit?.name === 'fetchTimeoutMs' && limit.value === 2_000;
    const isUnknown = code === 'COMPONENT_ERROR' && NOT_PUBLIC.test(message);
    expect([ran.error, isTimeout || isUnknown]).toEqual([ran.error, true]);
  });
});

// egress: A name with many addresses, of which one is private, for a connection that takes
// whichever answers first.
describe('one-private-address-of-many', () => {
  const world = hostile();
  const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')), '0.0.0.0');
  const MANY = Array.from({ length: 200 }, (_, i) => `127.0.0.${i + 1}`);

  const urlOf = async (...addresses: string[]) => `http://${await nameWith({ addresses })}:${server.port}/`;

  it('is refused whole at each position of the private address', async () => {
    const attack = async () => {
      const places = [0, 7, 8, 100, 200].map((place) => MANY.toSpliced(place, 0, PRIVATE_LOOPBACK));
      const mixed = [...places, [...MANY, '::1'], ['::1', ...MANY]];
      return fetchEach(world, await Promise.all(mixed.map((addresses) => urlOf(...addresses))));
    };
    const ran = await world.unharmed(attack);
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
    expect(server.connections()).toBe(0);
  });

  it('is connected at one of the others without it', async () => {
    expect((await fetchEach(world, [await urlOf(...MANY)])).reached).toMatchObject([{ status: 200 }]);
  });
});
