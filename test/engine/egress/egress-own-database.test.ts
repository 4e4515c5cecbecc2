import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import postgres from 'postgres';
import { afterEach, expect, test, vi } from 'vitest';
import { accountLimits } from '@headwater/shared';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import { egressOf } from '../../../engine/src/composition/parts-from-options.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const stop of stops.splice(0).toReversed()) await stop();
});

/** Stands for the database; requests to it do not matter. */
async function listen(): Promise<string> {
  const server = createServer((_, response) => response.end('here'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => server.close());
  return String((server.address() as AddressInfo).port);
}

test.each([
  ['in the URL', (port: string) => `postgres://u:p@127.0.0.1:${port}/db`, {}],
  ['in the environment', () => 'postgres://u:p@127.0.0.1/db', { PGPORT: true }],
  ['with its host in the environment', () => 'postgres:///db', { PGPORT: true, PGHOST: '127.0.0.1' }],
  ['of a socket in the file system', () => 'postgres:///db', { PGPORT: true, PGHOST: '/run/postgresql' }],
])('the port of the database is refused: %s', async (_, urlOf, env) => {
  const [database, other] = [await listen(), await listen()];
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value === true ? database : String(value));
  const sql = postgres(urlOf(database));
  const guest = createGuestFetch({
    egress: egressOf({ egressAllow: ['127.0.0.0/8'], listeningPorts: () => [] } as never, sql as never),
  });
  stops.push(guest.stop);
  const ask = (host: string) =>
    guest.fetch(
      { id: 'o_1', limits: accountLimits({}) },
      { url: `http://${host}/`, method: 'GET', headers: [], redirect: 'follow' },
      new AbortController().signal,
    );
  for (const host of ['127.0.0.1', 'localhost'])
    expect(await ask(`${host}:${database}`)).toMatchObject({
      ok: false,
      message: expect.stringContaining('is not reached from here'),
    });
  expect(await ask(`127.0.0.1:${other}`)).toMatchObject({ ok: true, status: 200 });
});
