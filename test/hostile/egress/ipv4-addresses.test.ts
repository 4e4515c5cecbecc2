import { describe, expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';

// egress: The network of benchmarks, 198.18.0.0/15, which laboratories route.
describe('benchmark-network', () => {
  const world = hostile();

  it('is no public address', async () => {
    const urls = ['http://198.18.0.1/', 'http://198.19.255.254/', 'http://[2001:2::1]/'];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: The broadcast address and the reserved network around it.
describe('broadcast-address', () => {
  const world = hostile();

  it('is no address of one host', async () => {
    const urls = ['http://255.255.255.255/', 'http://240.0.0.1/', 'http://4294967295/'];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Addresses of carrier-grade NAT, where clouds put services of their own.
describe('carrier-grade-nat', () => {
  const world = hostile();

  it('is no public address', async () => {
    const urls = [
      'http://100.64.0.1/',
      'http://100.100.100.200/latest/meta-data/',
      'http://100.127.255.254/',
      'http://0x64400001/',
    ];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Networks reserved for documentation, which some use as private ones.
describe('documentation-networks', () => {
  const world = hostile();

  it('is no public address', async () => {
    const urls = [
      'http://192.0.2.1/',
      'http://198.51.100.1/',
      'http://203.0.113.1/',
      'http://[2001:db8::1]/',
      'http://[3fff::1]/',
    ];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Addresses of the own link of both families.
describe('link-local-address', () => {
  const world = hostile();

  it('is no public address', async () => {
    const urls = ['http://169.254.1.1/', 'http://[fe80::1]/', 'http://[febf::1]/', 'http://[fe80::a9fe:a9fe]/'];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Loopback as literal addresses, of which the operator has allowed another part.
describe('loopback-address', () => {
  const world = hostile();
  const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')), '0.0.0.0');
  const HOSTS = [
    PRIVATE_LOOPBACK,
    '127.128.0.0',
    '127.255.255.254',
    '0.0.0.0',
    '[::1]',
    '[::]',
    `[::ffff:${PRIVATE_LOOPBACK}]`,
  ];

  it('is refused before anything is connected', async () => {
    const urls = HOSTS.map((host) => `http://${host}:${server.port}/`);
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
    expect(server.connections()).toBe(0);
    expect((await fetchEach(world, [server.url])).reached).toMatchObject([{ status: 200 }]);
  });
});

// egress: Multicast addresses of both families.
describe('multicast-address', () => {
  const world = hostile();

  it('is no address of one host', async () => {
    const urls = ['http://224.0.0.1/', 'http://239.255.255.250:1900/', 'http://[ff02::1]/', 'http://[ff0e::1]/'];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Private networks of IPv4, plainly and in other notations.
describe('private-networks', () => {
  const world = hostile();

  it('is no public address', async () => {
    const urls = [
      'http://10.0.0.1/',
      'http://172.16.0.1/',
      'http://172.31.255.254/',
      'http://192.168.1.1/',
      'http://192.168.257/',
      'http://0xc0.0xa8.1.1/',
      'http://167772161/',
      'http://012.0.0.1/',
    ];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Address zero, which Linux connects to itself.
describe('unspecified-address', () => {
  const world = hostile();

  it('is refused in every spelling', async () => {
    const urls = ['http://0.0.0.0/', 'http://0/', 'http://0x0/', 'http://00000/', 'http://0.1.2.3/'];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: The addresses at which clouds give credentials to their machines, in several spellings.
describe('cloud-metadata-address', () => {
  const world = hostile();

  it('is refused at every cloud', async () => {
    const urls = [
      'http://169.254.169.254/latest/meta-data/iam/security-credentials/',
      'http://0xa9fea9fe/',
      'http://2852039166/',
      'http://0251.0376.0251.0376/',
      'http://169.254.43518/',
      'http://169.254.170.2/v2/credentials',
      'http://[fd00:ec2::254]/latest/',
      'http://[fd20:ce::254]/',
      'http://100.100.100.200/',
      'http://168.63.129.16/',
      'http://192.0.0.192/opc/v2/instance/',
    ];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Ports of other protocols, whose servers can be talked into acting on the lines of an
// HTTP request.
describe('mail-server-ports', () => {
  const world = hostile();

  it('are not reached at any host', async () => {
    const urls = [22, 25, 110, 143, 465, 587, 6667].map((port) => `http://127.0.0.1:${port}/`);
    const ran = await world.unharmed(() => fetchEach(world, [...urls, 'http://mail.example.com:25/']));
    expect(ran.error).toMatchObject(refusedRun(/it is not an HTTP port/));
    expect(ran.reached).toEqual([]);
  });
});
