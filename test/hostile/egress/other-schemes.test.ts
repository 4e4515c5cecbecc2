// egress: URLs that are not of HTTP: files, sockets, other protocols.
import { expect, it } from 'vitest';
import { fetchEach, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const URLS = [
  'ws://127.0.0.1/',
  'wss://127.0.0.1/',
  'ftp://127.0.0.1/',
  'gopher://127.0.0.1:6379/_FLUSHALL',
  'dict://127.0.0.1:11211/stats',
  'ldap://127.0.0.1/',
  'blob:http://127.0.0.1/x',
  'javascript:1',
  'jar:http://127.0.0.1!/',
  'file:///etc/passwd',
];

it('are refused before anything is opened', async () => {
  const ran = await world.unharmed(() => fetchEach(world, URLS));
  expect(ran.error).toMatchObject(refusedRun(/file: URLs are not supported/));
  expect(ran.reached).toEqual([]);
});
