import { readFile } from 'node:fs/promises';
import path from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../engine/src/db/server/embedded-postgres.ts';
import { type Database, openDatabase } from '../../../engine/src/db/database.ts';
import { isDatabaseAway } from '../../../engine/src/db/lost-connection.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';
import { makeDataDir } from '../../support/run-folder.ts';

let server: EmbeddedPostgres;
let dataDir: string;
let db: Database;
beforeAll(async () => {
  const settings = { fsync: 'off', full_page_writes: 'off' };
  dataDir = makeDataDir();
  server = await startEmbeddedPostgres({ dataDir, log: testLog, settings });
  db = openDatabase({ url: server.url });
});
afterAll(async () => {
  await db.close();
  await server.stop();
});

/** As when one runs out of memory: the server ends all others and recovers. */
async function crashServer(): Promise<void> {
  const admin = postgres(server.url, { max: 1, onnotice: () => undefined });
  const [row] = await admin<{ pid: number }[]>`
    select pid from pg_stat_activity where application_name = 'headwater' and query like '%pg_sleep%' limit 1`;
  process.kill(row?.pid ?? 0, 'SIGKILL');
  await admin.end({ timeout: 0 });
}

// Those that waited for a connection were forgotten: ten of forty.
test('each of 40 transactions under way settles when a backend is killed, and the database is used again', async () => {
  const { sql } = db;
  for (let round = 0; round < 2; round++) {
    let begun = 0;
    const work = Array.from({ length: 40 }, async () =>
      sql.begin(async (tx) => {
        begun++;
        await tx`select pg_sleep(0.3)`;
      }),
    );
    const settled = Promise.allSettled(work);
    await eventually(() => begun === 10);
    await crashServer();
    const outcomes = await settled;
    const lost = outcomes.filter(({ status }) => status === 'rejected');
    expect(lost.length).toBeGreaterThan(0);
    for (const outcome of lost) expect(isDatabaseAway((outcome as PromiseRejectedResult).reason)).toBe(true);
    expect(await sql.begin((tx) => tx`select 1 as one`)).toEqual([{ one: 1 }]);
  }
});

test('so does each when the whole server is killed, and started again at the same address', async () => {
  const { sql } = db;
  let begun = 0;
  const work = Array.from({ length: 40 }, async () =>
    sql.begin(async (tx) => {
      begun++;
      await tx`select pg_sleep(0.3)`;
    }),
  );
  const settled = Promise.allSettled(work);
  await eventually(() => begun === 10);
  const text = await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8');
  process.kill(Number(text.split('\n')[0]), 'SIGKILL');
  const outcomes = await settled;
  expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
  const isUsable = () =>
    sql
      .begin((tx) => tx`select 1`)
      .then(
        () => true,
        () => false,
      );
  expect(await eventually(isUsable, { timeoutMs: 20_000 })).toBe(true);
});
