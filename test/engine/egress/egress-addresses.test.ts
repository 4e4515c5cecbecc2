import { expect, test } from 'vitest';
import { isPublicAddress, parseAddress, parseRange } from '../../../engine/src/egress/address.ts';
import { createEgress } from '../../../engine/src/egress/egress.ts';

const REFUSED = [
  // This machine, the networks around it, and what only looks like another address.
  'http://127.0.0.1/',
  'http://127.255.255.254/',
  'http://127.1/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://2130706433/',
  'http://017700000001/',
  'http://0177.0.0.01/',
  'http://127.0.0.1./',
  'http://１２７.０.０.１/',
  'http://0.0.0.0/',
  'http://0/',
  'http://10.1.2.3/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://169.254.169.254/',
  'http://0xa9fea9fe/',
  'http://100.64.0.1/',
  'http://100.100.100.200/',
  'http://168.63.129.16/',
  'http://192.0.0.192/',
  'http://192.0.2.1/',
  'http://192.88.99.1/',
  'http://198.18.0.1/',
  'http://198.51.100.1/',
  'http://203.0.113.1/',
  'http://224.0.0.1/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://[::1]/',
  'http://[::]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b::a00:1]/',
  'http://[64:ff9b:1::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
  'http://[fe80::1]/',
  'http://[fec0::1]/',
  'http://[fc00::1]/',
  'http://[fd00:ec2::254]/',
  'http://[ff02::1]/',
  'http://[100::1]/',
  'http://[2001:db8::1]/',
  'http://[3fff::1]/',
  'http://[5f00::1]/',
  'http://[4000::1]/',
  'http://[::ffff:0:127.0.0.1]/',
];

const PUBLIC = [
  'http://1.1.1.1/',
  'https://8.8.8.8:8443/path',
  'http://172.32.0.1/',
  'http://100.128.0.1/',
  'http://[2606:4700:4700::1111]/',
  'http://[::ffff:8.8.8.8]/',
  'http://[64:ff9b::8.8.8.8]/',
];

const closed = createEgress({ allow: [], deniedPorts: () => [] });

test.each(REFUSED)('%s is refused', (url) => {
  expect(() => closed.checkUrl(new URL(url))).toThrow(expect.objectContaining({ code: 'EGRESS_REFUSED' }));
});

test.each(PUBLIC)('%s is let through', (url) => {
  expect(() => closed.checkUrl(new URL(url))).not.toThrow();
});

test.each(['ftp://1.1.1.1/', 'file:///etc/passwd', 'data:text/plain,hi', 'ws://1.1.1.1/'])('%s is refused', (url) => {
  expect(() => closed.checkUrl(new URL(url))).toThrow(/use http: or https:/);
});

test.each(['http://1.1.1.1:25/', 'http://1.1.1.1:22/', 'http://example.com:6667/'])('%s is no HTTP port', (url) => {
  expect(() => closed.checkUrl(new URL(url))).toThrow(/not an HTTP port/);
});

test('an allowed range opens that range and nothing else, in every spelling', () => {
  const { checkUrl } = createEgress({ allow: ['127.0.0.0/8', 'fd12::/16'], deniedPorts: () => [] });
  for (const url of ['http://127.0.0.1/', 'http://2130706433/', 'http://[::ffff:127.0.0.1]/', 'http://[fd12::1]/']) {
    expect(() => checkUrl(new URL(url))).not.toThrow();
  }
  for (const url of ['http://10.0.0.1/', 'http://[fd13::1]/', 'http://0.0.0.0/', 'http://[::1]/']) {
    expect(() => checkUrl(new URL(url))).toThrow(/not a public address/);
  }
});

test('ranges that are none are all named at once', () => {
  const make = () => createEgress({ allow: ['10.0.0.0/8', '10.0.0.0/33', 'localhost'], deniedPorts: () => [] });
  expect(make).toThrow(/10\.0\.0\.0\/33, localhost/);
});

test('a scoped or malformed address is not taken for a public one', () => {
  expect(parseAddress('2130706433')).toBeUndefined();
  expect(parseAddress('localhost')).toBeUndefined();
  const scoped = parseAddress('fe80::1%2');
  expect(scoped !== undefined && isPublicAddress(scoped)).toBe(false);
  expect(parseRange('::/0')).toBeDefined();
});
