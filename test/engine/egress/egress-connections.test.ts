import type { LookupAddress } from 'node:dns';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { errors } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { LIMITS } from '@headwater/shared';
import { createEgress, type EgressOptions } from '../../../engine/src/egress/egress.ts';
import { startExchange } from '../../../engine/src/egress/exchange.ts';
import { createTenantConnections } from '../../../engine/src/egress/tenant-connections.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function receiver(): Promise<Receiver> {
  const started = await startReceiver();
  stops.push(started.stop);
  return started;
}

/**
 * Sends requests through an egress as the system does, without the checks that callers make before.
 */
async function get(url: string, options: Partial<EgressOptions> = {}) {
  const egress = createEgress({ allow: ['127.0.0.0/8'], deniedPorts: () => [], ...options });
  const connections = createTenantConnections({ egress });
  stops.push(connections.stop);
  const { origin, pathname } = new URL(url);
  return startExchange(connections.take('o_1', origin, 1), {
    origin,
    path: pathname,
    method: 'GET',
    headers: [],
    timeoutMs: 5_000,
    maxKeptBytes: 1_000,
    overflow: { kind: 'fail' },
  }).done;
}

function answering(addresses: LookupAddress[]) {
  const asked: string[] = [];
  const resolver: EgressOptions['resolver'] = (hostname, done) => {
    asked.push(hostname);
    setImmediate(() => done(null, addresses));
  };
  return { asked, resolver };
}

const portOf = (url: string) => Number(new URL(url).port);
const refusal = (message: RegExp) =>
  expect.objectContaining({
    kind: 'error',
    error: expect.objectContaining({ code: 'EGRESS_REFUSED', message: expect.stringMatching(message) }),
  });

test('a name is looked up once, and the address that was checked is the one connected to', async () => {
  const { url, requests } = await receiver();
  const { asked, resolver } = answering([{ address: '127.0.0.1', family: 4 }]);
  const outcome = await get(`http://receiver.test:${portOf(url)}/hello`, { resolver });
  expect(outcome).toMatchObject({ kind: 'response', status: 200 });
  expect(asked).toEqual(['receiver.test']);
  expect(requests[0]?.headers.host).toBe(`receiver.test:${portOf(url)}`);
});

test('a name with one private address among public ones is refused, and the refusal does not say which', async () => {
  const { url, requests } = await receiver();
  const { resolver } = answering([
    { address: '93.184.215.14', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ]);
  const outcome = await get(`http://mixed.test:${portOf(url)}/`, { resolver, allow: [] });
  expect(outcome).toEqual(refusal(/^No public address was found for mixed\.test/));
  expect(JSON.stringify(outcome)).not.toMatch(/127\.0|93\.184/);
  expect(requests).toEqual([]);
});

test('each of hundreds of addresses of a name is checked, and a name with thousands is refused before one is read', async () => {
  const { url, requests } = await receiver();
  const { maxNameAddresses: value } = LIMITS;
  let reads = 0;
  const named = (count: number, last = '127.0.0.1') => {
    const addresses = Array.from({ length: count }, (_, i) => ({
      family: 4,
      get address() {
        reads++;
        return i === count - 1 ? last : '127.0.0.1';
      },
    }));
    return get(`http://many.test:${portOf(url)}/`, { resolver: answering(addresses).resolver });
  };
  expect(await named(value)).toMatchObject({ kind: 'response', status: 200 });
  expect(await named(value, '10.0.0.1')).toEqual(refusal(/^No public address was found for many\.test/));
  expect(reads).toBeGreaterThanOrEqual(2 * value);
  reads = 0;
  const limit = { name: 'maxNameAddresses', value, used: value + 1 };
  const outcome = await named(value + 1);
  expect(outcome).toEqual(refusal(/^many\.test has 513 addresses/));
  expect(outcome).toMatchObject({ error: { limit } });
  expect([reads, requests.length]).toEqual([0, 1]);
});

test('a name that leads to an address with a zone, as one of the hosts file may, is refused', async () => {
  for (const address of ['fe80::1%lo', 'fe80::1%25eth0', '::1%lo']) {
    const { resolver } = answering([{ address, family: 6 }]);
    expect(await get('http://name.test/', { allow: [], resolver })).toEqual(refusal(/name\.test/));
  }
});

test('an unknown name and a private one get the same words', async () => {
  const unknown = await get('http://name.test/', {
    allow: [],
    resolver: (_, done) => done(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }), []),
  });
  const { resolver } = answering([{ address: '10.0.0.7', family: 4 }]);
  const hidden = await get('http://name.test/', { allow: [], resolver });
  const words = /^No public address was found for name\.test\. /;
  expect(unknown).toEqual(refusal(words));
  expect(hidden).toEqual(refusal(words));
  const messageOf = (outcome: object) => String((outcome as { error?: unknown }).error);
  expect(messageOf(hidden)).toBe(messageOf(unknown));
});

test('a literal private address is refused by the connection itself', async () => {
  const { url, requests } = await receiver();
  expect(await get(url, { allow: [] })).toEqual(refusal(/127\.0\.0\.1 is not a public address/));
  expect(requests).toEqual([]);
});

test('an own port is refused on every address of this machine, allowed range or not', async () => {
  const { url, requests } = await receiver();
  const port = portOf(url);
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const hosts = ['127.0.0.1', '127.9.9.9', '0.0.0.0', '[::1]', '[::ffff:127.0.0.1]'].concat(
    own.filter((entry) => entry.family === 'IPv4').map((entry) => entry.address),
  );
  for (const host of hosts) {
    const outcome = await get(`http://${host}:${port}/`, {
      allow: ['0.0.0.0/0', '::/0'],
      deniedPorts: () => [{ port }],
    });
    expect({ host, outcome }).toEqual({ host, outcome: refusal(/not reached from here/) });
  }
  const { resolver } = answering([{ address: '127.0.0.1', family: 4 }]);
  const named = await get(`http://api.test:${port}/`, { resolver, deniedPorts: () => [{ port }] });
  expect(named).toEqual(refusal(/not reached from here/));
  expect(requests).toEqual([]);
});

test('a port denied on another host is refused there only, by name and by address', async () => {
  const { url, requests } = await receiver();
  const port = portOf(url);
  const { resolver } = answering([{ address: '127.0.0.5', family: 4 }]);
  const deniedPorts = () => [{ port, host: 'database.test' }];
  expect(await get(`http://127.0.0.5:${port}/`, { resolver, deniedPorts })).toEqual(refusal(/not reached/));
  expect(await get(`http://alias.test:${port}/`, { resolver, deniedPorts })).toEqual(refusal(/not reached/));
  expect(requests).toEqual([]);
  expect(await get(`http://127.0.0.1:${port}/`, { resolver, deniedPorts })).toMatchObject({ kind: 'response' });
});

test('a denied host whose name cannot be resolved refuses its port everywhere', async () => {
  const { url } = await receiver();
  const resolver: EgressOptions['resolver'] = (_, done) => done(new Error('no DNS'), []);
  const deniedPorts = () => [{ port: portOf(url), host: 'database.test' }];
  expect(await get(url, { resolver, deniedPorts })).toEqual(refusal(/not reached/));
});

test('ports that are known only later count: they are asked for at each connection', async () => {
  const { url } = await receiver();
  const denied: { port: number }[] = [];
  const options = { deniedPorts: () => denied };
  expect(await get(url, options)).toMatchObject({ kind: 'response' });
  denied.push({ port: portOf(url) });
  expect(await get(url, options)).toEqual(refusal(/not reached/));
});

test('the parser of an answer ends at the first header beyond the limit', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => new Promise((resolve) => server.close(resolve)));
  let errorsMade = 0;
  Object.defineProperty(errors.HeadersOverflowError.prototype, 'name', {
    configurable: true,
    set: () => {
      errorsMade++;
    },
  });
  stops.push(async () => Reflect.deleteProperty(errors.HeadersOverflowError.prototype, 'name'));
  const outcome = await get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(outcome).toMatchObject({ kind: 'error', error: { code: 'UND_ERR_HEADERS_OVERFLOW' } });
  // Its class and the one that it extends both set its name.
  expect(errorsMade).toBe(2);
});
