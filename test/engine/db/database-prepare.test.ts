import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import postgres from 'postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findFreePort } from '../../../engine/src/db/server/launch-server.ts';
import { migrate } from '../../../engine/src/db/server/migrate.ts';
import { prepareDatabase } from '../../../engine/src/db/server/prepare-database.ts';
import { serverUrl } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';

let dataDir: string;
const ends: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'headwater-prepare-'));
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await rm(dataDir, { recursive: true, force: true });
});

async function databaseOf(url: string): Promise<string | undefined> {
  const sql = postgres(url, { max: 1 });
  const [row] = await sql<{ name: string }[]>`select current_database() as name`;
  await sql.end();
  return row?.name;
}

/**
 * graphile-worker's migrations do not wait for the end of their connection, which would end with an
 * error of its own.
 */
async function untilUnused(url: string): Promise<void> {
  const sql = postgres(url, { max: 1 });
  const others = () => sql`
    select from pg_stat_activity where backend_type = 'client backend' and application_name <> 'headwater-owner' and pid <> pg_backend_pid()`;
  await eventually(async () => (await others()).length === 0);
  await sql.end();
}

test('without a URL there is a database of our own, the same one at the next start', async () => {
  for (const pass of ['first', 'second']) {
    const database = await prepareDatabase({ dataDir, log: testLog });
    ends.push(() => database.stop());
    expect(database.embedded).toBe(true);
    expect(await databaseOf(database.url)).toBe('headwater');
    const applied = await migrate({ url: database.url, log: testLog });
    expect(applied.length > 0).toBe(pass === 'first');
    await untilUnused(database.url);
    await database.stop();
  }
});

test('a server that is named is used as it is, and left running', async () => {
  const database = await prepareDatabase({ databaseUrl: serverUrl(), dataDir, log: testLog });
  expect(database).toMatchObject({ url: serverUrl(), embedded: false });
  await database.stop();
  expect(await databaseOf(serverUrl())).toBe('postgres');
});

test('a server that is not up yet is waited for', async () => {
  const target = new URL(serverUrl());
  const late = new URL(serverUrl());
  late.port = String(await findFreePort());
  const proxy = createForwarder(Number(target.port));
  ends.push(() => new Promise((resolve) => proxy.close(resolve)));
  // The first warning says that nothing answered: from then on something does.
  const warned: unknown[] = [];
  const log = pino(
    { level: 'warn' },
    { write: (line) => void (warned.push(line), proxy.listening || proxy.listen(Number(late.port), '127.0.0.1')) },
  );
  const database = await prepareDatabase({ databaseUrl: late.href, dataDir, log });
  expect(warned.length).toBeGreaterThan(0);
  expect(await databaseOf(database.url)).toBe('postgres');
});

function createForwarder(port: number): Server {
  return createServer((client) => {
    const server = connect(port, '127.0.0.1');
    // Either end may break off; the other one is told by its close.
    client.on('error', () => server.destroy());
    server.on('error', () => client.destroy());
    client.pipe(server).pipe(client);
  });
}

test('a server that refuses us is reported at once, without the password', async () => {
  const url = new URL(serverUrl());
  url.password = 'a-wrong-password';
  const refused = await prepareDatabase({ databaseUrl: url.href, dataDir, log: testLog }).catch(
    (error: Error) => error,
  );
  expect(refused).toMatchObject({ code: 'UNAVAILABLE' });
  expect((refused as Error).message).toMatch(
    /127\.0\.0\.1:\d+\/postgres cannot be used: password authentication failed/,
  );
  expect((refused as Error).message).not.toContain('a-wrong-password');
  url.password = new URL(serverUrl()).password;
  url.pathname = '/no_such_database';
  await expect(prepareDatabase({ databaseUrl: url.href, dataDir, log: testLog })).rejects.toThrow(
    /"no_such_database" does not exist/,
  );
  await expect(prepareDatabase({ databaseUrl: 'localhost', dataDir, log: testLog })).rejects.toThrow(/not a URL/);
});
