import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { readConfig } from '../../api/src/config.ts';
import { createClientFacts } from '../../api/src/ingest/client-facts.ts';

function facts(trustedProxies: string[], peer: string, headers: Record<string, string>) {
  const read = createClientFacts({ scheme: 'http', trustedProxies });
  const request = { url: '/e/k?a=1', headers: { host: 'hooks.test', ...headers }, socket: { remoteAddress: peer } };
  return read(request as unknown as IncomingMessage);
}

const FORWARDED = { 'x-forwarded-for': '9.9.9.9', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.test' };

test('forwarding headers of a client are ignored', () => {
  const own = { url: 'http://hooks.test/e/k?a=1', clientIp: '8.8.8.8' };
  expect(facts([], '8.8.8.8', FORWARDED)).toEqual(own);
  expect(facts(['10.0.0.0/8'], '8.8.8.8', FORWARDED)).toEqual(own);
  expect(facts([], '::ffff:8.8.8.8', FORWARDED)).toEqual(own);
});

test('forwarding headers of a trusted proxy are used', () => {
  const headers = { ...FORWARDED, 'x-forwarded-host': 'public.test:8443' };
  const told = { url: 'https://public.test:8443/e/k?a=1', clientIp: '9.9.9.9' };
  for (const peer of ['10.1.2.3', '::ffff:10.1.2.3', 'fd00::1'])
    expect(facts(['10.0.0.0/8', 'fd00::/8'], peer, headers)).toEqual(told);
});

test.each([
  ['9.9.9.9, 10.0.0.2', '9.9.9.9'],
  // The first entry is the client's own invention.
  ['1.2.3.4, 9.9.9.9, 10.0.0.2', '9.9.9.9'],
  ['9.9.9.9:4711', '9.9.9.9'],
  ['[2001:db8::1]:80', '2001:db8::1'],
  ['unknown', '10.0.0.1'],
  ['', '10.0.0.1'],
  ['10.0.0.3, 10.0.0.2', '10.0.0.3'],
])('with the addresses %j the client is %s', (forwardedFor, clientIp) => {
  expect(facts(['10.0.0.0/24'], '10.0.0.1', { 'x-forwarded-for': forwardedFor }).clientIp).toBe(clientIp);
});

test.each([
  ['x-forwarded-proto', 'javascript'],
  ['x-forwarded-host', 'a/b'],
])('a %s of %j changes nothing', (name, value) => {
  expect(facts(['10.0.0.1'], '10.0.0.1', { [name]: value }).url).toBe('http://hooks.test/e/k?a=1');
});

test('the setting names ranges and addresses, and nothing else', () => {
  const read = (text: string) => readConfig({ HEADWATER_TRUSTED_PROXIES: text }, []);
  expect(read('10.0.0.0/8, ::1')).toMatchObject({ ok: true, config: { trustedProxies: ['10.0.0.0/8', '::1'] } });
  expect(read('loopback')).toMatchObject({ ok: false });
});
