import { describe, expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, refusedRun, requestEach } from '../../support/hostile-egress.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';

// egress: IPv4 addresses in the last 32 bits of an otherwise empty IPv6 address, an abandoned
// notation.
describe('ipv4-compatible-ipv6', () => {
  const world = hostile();

  it('is refused with each address inside', async () => {
    const urls = ['http://[::10.0.0.1]/', 'http://[::7f00:1]/', 'http://[::169.254.169.254]/', 'http://[::8.8.8.8]/'];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Private IPv4 addresses written as IPv4-mapped IPv6 ones.
describe('ipv4-mapped-ipv6', () => {
  const world = hostile();

  it('is judged as the IPv4 address it is', async () => {
    const urls = [
      'http://[::ffff:10.0.0.1]/',
      'http://[::ffff:a00:1]/',
      'http://[::ffff:169.254.169.254]/',
      'http://[0:0:0:0:0:ffff:c0a8:101]/',
      'http://[::ffff:0:10.0.0.1]/',
    ];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: The loopback address of IPv6, long and short, and the unspecified one that leads there.
describe('ipv6-loopback', () => {
  const world = hostile();

  it('is refused in every spelling', async () => {
    const urls = [
      'http://[::1]/',
      'http://[0:0:0:0:0:0:0:1]:8080/',
      'http://[0000::0001]/',
      'http://[::]/',
      'http://[::0.0.0.1]/',
    ];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Private IPv4 addresses behind the prefixes of NAT64, which an IPv6-only network would
// translate.
describe('nat64-address', () => {
  const world = hostile();

  it('is judged as the IPv4 address it leads to', async () => {
    const urls = [
      'http://[64:ff9b::10.0.0.1]/',
      'http://[64:ff9b::a9fe:a9fe]/',
      'http://[64:ff9b::ac10:1]/',
      'http://[64:ff9b:1::a00:1]/',
      'http://[64:ff9b:1:ffff::192.168.0.1]/',
    ];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Private IPv4 addresses inside 6to4 addresses.
describe('sixtofour-address', () => {
  const world = hostile();

  it('is refused with each address inside', async () => {
    const urls = [
      'http://[2002:7f00:1::]/',
      'http://[2002:a00:1::1]/',
      'http://[2002:a9fe:a9fe::1]/',
      'http://[2002:808:808::1]/',
    ];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Private IPv4 addresses inside Teredo addresses, which hold them inverted.
describe('teredo-address', () => {
  const world = hostile();

  it('is refused with each address inside', async () => {
    const urls = [
      'http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/',
      'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
      'http://[2001::1]/',
    ];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Private networks of IPv6, today’s and the ones before.
describe('unique-local-address', () => {
  const world = hostile();

  it('is no public address', async () => {
    const urls = [
      'http://[fc00::1]/',
      'http://[fd12:3456:789a::1]/',
      'http://[fec0::1]/',
      'http://[4000::1]/',
      'http://[5f00::1]/',
    ];
    const ran = await world.unharmed(() => fetchEach(world, urls));
    expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  });
});

// egress: Addresses with a zone, plain and encoded, which name an interface of the machine.
describe('zone-ids', () => {
  const world = hostile();
  const ADDRESSES = ['fe80::1', '::1', `::ffff:${PRIVATE_LOOPBACK}`, '2606:4700::1111'];
  const ZONED = ADDRESSES.flatMap((address) => ['lo', '25lo', '1'].map((zone) => `${address}%${zone}`));

  it('are in no URL that fetch takes', async () => {
    const ran = await world.unharmed(() =>
      fetchEach(
        world,
        ZONED.map((host) => `http://[${host}]/`),
      ),
    );
    expect(ran.error).toMatchObject(refusedRun(/Failed to parse URL from/));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(/Failed to parse URL from/);
  });

  it('are refused by the node as hosts of the module http', async () => {
    const requests = ZONED.map((hostname): [string, object] => ['http://name.test/', { hostname }]);
    const ran = await world.unharmed(() => requestEach(world, requests));
    expect(ran.error).toMatchObject(refusedRun(/is not an absolute URL/));
    expect(ran.reached).toEqual([]);
    for (const message of ran.messages) expect(message).toMatch(/is not an absolute URL/);
  });
});
