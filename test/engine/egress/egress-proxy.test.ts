import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { expect, test } from 'vitest';
import { accountLimits } from '@headwater/shared';
import { readConfig } from '../../../api/src/config.ts';
import { createEgress, type EgressOptions } from '../../../engine/src/egress/egress.ts';
import type { Resolver } from '../../../engine/src/egress/guard.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import { startReceiver } from '../../support/receiver.ts';
import { stopAfterEach } from '../../support/started.ts';
import { startTunnelProxy, type TunnelProxy } from '../../support/tunnel-proxy.ts';

const { started, stops } = stopAfterEach();

/**
 * A name that resolves to an address of the internet, which the proxy of the tests takes to
 * loopback.
 */
const PUBLIC = '93.184.215.14';
const resolver: Resolver = (_, done) => done(null, [{ address: PUBLIC, family: 4 }]);

function fetcher(proxy: string, options: Partial<EgressOptions> = {}) {
  const guest = createGuestFetch({
    egress: createEgress({ allow: [], deniedPorts: () => [], resolver, proxy, ...options }),
  });
  stops.push(guest.stop);
  const tenant = { id: 'o_1', limits: accountLimits({ fetchTimeoutMs: 3_000 }) };
  return (url: string) =>
    guest.fetch(tenant, { url, method: 'GET', headers: [], redirect: 'follow' }, new AbortController().signal);
}

const urlOf = (proxy: TunnelProxy, credentials = '') => `http://${credentials}127.0.0.1:${proxy.port}`;

test('a request goes through a tunnel to the address that was checked here, with the host that was named', async () => {
  const [proxy, { url, requests }] = [await started(startTunnelProxy()), await started(startReceiver())];
  const { port } = new URL(url);
  const fetch = fetcher(urlOf(proxy, 'gate:s%20cret@'));
  expect(await fetch(`http://receiver.test:${port}/a`)).toMatchObject({ ok: true, status: 200 });
  expect(await fetch(`http://receiver.test:${port}/b`)).toMatchObject({ ok: true, status: 200 });
  expect(await fetch(`http://[2606:4700::1111]:${port}/c`)).toMatchObject({ ok: true, status: 200 });
  const authorization = `Basic ${Buffer.from('gate:s cret').toString('base64')}`;
  expect(proxy.asked).toEqual([
    { authority: `${PUBLIC}:${port}`, authorization },
    { authority: `[2606:4700::1111]:${port}`, authorization },
  ]);
  expect(proxy.others).toEqual([]);
  expect(requests.map(({ url: path, headers }) => [path, headers.host])).toEqual([
    ['/a', `receiver.test:${port}`],
    ['/b', `receiver.test:${port}`],
    ['/c', `[2606:4700::1111]:${port}`],
  ]);
  expect(requests[0]?.headers).not.toHaveProperty('proxy-authorization');
});

test('TLS is spoken with the target, by the name that was given', async () => {
  const proxy = await started(startTunnelProxy());
  const hellos: Buffer[] = [];
  const server = createTcpServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', (hello) => {
        hellos.push(hello);
        socket.destroy();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  expect(await fetcher(urlOf(proxy))(`https://receiver.test:${port}/`)).toMatchObject({ ok: false });
  const [hello] = hellos;
  // A TLS handshake record, with the name for the server to choose its certificate by.
  expect(hello?.subarray(0, 2)).toEqual(Buffer.from([0x16, 0x03]));
  expect(hello?.includes('receiver.test')).toBe(true);
});

test('a denied URL is refused before the proxy is asked', async () => {
  const proxy = await started(startTunnelProxy());
  const privately: Resolver = (_, done) => done(null, [{ address: '10.0.0.1', family: 4 }]);
  const fetch = fetcher(urlOf(proxy), { resolver: privately });
  for (const url of ['http://127.0.0.1/', 'http://[::1]/', 'http://internal.test/', 'http://169.254.169.254/']) {
    expect(await fetch(url)).toMatchObject({ ok: false, message: expect.stringMatching(/public address/) });
  }
  expect(proxy.asked).toEqual([]);
});

test('the proxy itself is not reached by tenants, on any address of this machine, allowed range or not', async () => {
  const proxy = await started(startTunnelProxy({ host: '0.0.0.0' }));
  const fetch = fetcher(urlOf(proxy), { allow: ['0.0.0.0/0', '::/0'] });
  for (const host of ['127.0.0.1', '127.0.0.2', '0.0.0.0', '[::1]']) {
    const outcome = await fetch(`http://${host}:${proxy.port}/`);
    expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(/not reached from here/) });
  }
  expect(proxy.asked).toEqual([]);
  expect(proxy.others).toEqual([]);
});

test('the error of a proxy that refuses or is gone names neither its address nor its credentials', async () => {
  const refusing = await started(startTunnelProxy({ status: 407 }));
  const refused = await fetcher(urlOf(refusing, 'gate:secret@'))('http://receiver.test/');
  expect(refused).toEqual({
    ok: false,
    code: 'ECONNREFUSED',
    message: 'The proxy of this server could not connect to receiver.test (status 407)',
    plain: 'The proxy of this server could not connect to the receiver',
  });
  const gone = await startTunnelProxy();
  await gone.stop();
  const failed = await fetcher(urlOf(gone, 'gate:secret@'))('http://receiver.test/');
  expect(failed).toMatchObject({ ok: false, message: 'The proxy of this server cannot be used (ECONNREFUSED)' });
});

test('a second address is tried where the proxy cannot reach the first', async () => {
  const [proxy, { url }] = [await started(startTunnelProxy()), await started(startReceiver())];
  const { port } = new URL(url);
  const both: Resolver = (_, done) =>
    done(
      null,
      [PUBLIC, '93.184.215.15'].map((address) => ({ address, family: 4 })),
    );
  const refusing = await started(startTunnelProxy({ status: 502 }));
  await fetcher(urlOf(refusing), { resolver: both })(`http://receiver.test:${port}/`);
  expect(refusing.asked.map(({ authority }) => authority)).toEqual([`${PUBLIC}:${port}`, `93.184.215.15:${port}`]);
  expect(await fetcher(urlOf(proxy), { resolver: both })(`http://receiver.test:${port}/`)).toMatchObject({ ok: true });
});

test('the setting is checked at the start, and its error does not repeat it', () => {
  const read = (text: string) => readConfig({ HEADWATER_EGRESS_PROXY: text }, []);
  expect(read('http://gate:secret@proxy.test:3128')).toMatchObject({
    ok: true,
    config: { egressProxy: 'http://gate:secret@proxy.test:3128' },
  });
  for (const text of [
    'proxy.test:3128',
    'socks5://secret@proxy.test',
    'http://secret@proxy.test/path',
    'http://%zz:secret@p',
  ]) {
    const outcome = read(text);
    expect(outcome).toMatchObject({ ok: false, problems: [expect.stringMatching(/^HEADWATER_EGRESS_PROXY must be/)] });
    expect(JSON.stringify(outcome)).not.toMatch(/secret/);
  }
});
