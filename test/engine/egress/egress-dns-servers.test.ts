import { expect, test } from 'vitest';
import { accountLimits } from '@headwater/shared';
import { parseDnsServer } from '../../../engine/src/egress/dns-server.ts';
import { createEgress, type EgressOptions } from '../../../engine/src/egress/egress.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import { type DnsAnswer, startNameServer } from '../../support/name-server.ts';
import { startReceiver } from '../../support/receiver.ts';
import { stopAfterEach } from '../../support/started.ts';

const { started, stops } = stopAfterEach();

/** A fetch whose DNS server returns `answer`; loopback is allowed. */
async function fetcher(answer: DnsAnswer, options: Partial<EgressOptions> = {}) {
  const { address } = await started(startNameServer(() => answer));
  const egress = createEgress({ allow: ['127.0.0.0/8'], deniedPorts: () => [], dnsServers: [address], ...options });
  const guest = createGuestFetch({ egress });
  stops.push(guest.stop);
  const tenant = { id: 'o_1', limits: accountLimits() };
  const fetch = (url: string) =>
    guest.fetch(tenant, { url, method: 'GET', headers: [], redirect: 'follow' }, new AbortController().signal);
  return { fetch, dnsPort: Number(address.split(':')[1]) };
}

const notReached = { ok: false, message: expect.stringMatching(/not reached from here/) };

test('names are asked of the servers that are named', async () => {
  const { url } = await started(startReceiver());
  const { fetch } = await fetcher({ addresses: ['127.0.0.1'] });
  expect(await fetch(`http://only-there.test:${new URL(url).port}/`)).toMatchObject({ ok: true, status: 200 });
});

test('the servers themselves are not reachable on any address of this machine', async () => {
  const { fetch, dnsPort } = await fetcher({ addresses: ['127.0.0.1'] }, { allow: ['0.0.0.0/0', '::/0'] });
  for (const host of ['127.0.0.1', '127.9.9.9', '0.0.0.0', '[::1]', 'alias.test']) {
    expect({ host, ...(await fetch(`http://${host}:${dnsPort}/`)) }).toMatchObject(notReached);
  }
});

test('the system resolves the name of a denied destination, as the node itself reaches it', async () => {
  const { url, requests } = await started(startReceiver());
  const port = Number(new URL(url).port);
  // The system does not know the name, which refuses the port everywhere; these servers say that it
  // is elsewhere.
  const { fetch } = await fetcher(
    { addresses: ['127.0.0.5'] },
    { deniedPorts: () => [{ port, host: 'database.test' }] },
  );
  expect(await fetch(url)).toMatchObject(notReached);
  expect(requests).toEqual([]);
});

test.each([
  ['1.1.1.1', '1.1.1.1', 53],
  ['127.0.0.1:5353', '127.0.0.1', 5353],
  ['::1', '::1', 53],
  ['[::1]', '::1', 53],
  ['[::1]:5353', '::1', 5353],
])('%s is %s, port %d', (text, host, port) => {
  expect(parseDnsServer(text)).toEqual({ host, port });
});

test.each([
  'dns.test',
  '1.1.1',
  '1.1.1.1:',
  '1.1.1.1:0',
  '1.1.1.1:65536',
  '[1.1.1.1]:53',
  'fe80::1%lo',
  '[fe80::1%lo]:53',
])('%s is no DNS server', (text) => expect(parseDnsServer(text)).toBeUndefined());

test('entries that are no DNS servers are all named at once', () => {
  const make = () =>
    createEgress({ allow: [], deniedPorts: () => [], dnsServers: ['1.1.1.1', 'dns.test', '1.1.1.1:0'] });
  expect(make).toThrow(/^Not DNS servers such as .*: dns\.test, 1\.1\.1\.1:0$/);
});
