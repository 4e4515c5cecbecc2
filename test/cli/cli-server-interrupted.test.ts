import { readFile } from 'node:fs/promises';
import path from 'node:path';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../engine/src/db/server/embedded-postgres.ts';
import { readPostmaster } from '../../engine/src/db/server/postmaster-file.ts';
import { createCliUser } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { testLog } from '../support/logs.ts';
import { makeDataDir } from '../support/run-folder.ts';

/** Makes a command that reads the applied migrations wait. */
const SLOW = `create view headwater_migrations as select '0001_init.sql'::text as name, ''::text as sha256 from pg_sleep(60)`;

async function query<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

test.each(['migrate', 'doctor'])(
  'hw server %s that is interrupted takes the database that it has started along',
  async (command) => {
    const dataDir = makeDataDir();
    const cluster = path.join(dataDir, 'postgres');
    const first = await startEmbeddedPostgres({ dataDir, log: testLog });
    await query(first.url, (sql) => sql`create database headwater`);
    await query(first.url.replace(/postgres$/, 'headwater'), (sql) => sql.unsafe(SLOW));
    await first.stop();
    const password = (await readFile(path.join(dataDir, 'postgres-password'), 'utf8')).trim();
    const user = await createCliUser();
    const hw = user.start(['server', command, '--data-dir', dataDir]);
    try {
      const { port } = await eventually(async () => {
        const found = await readPostmaster(cluster);
        return found?.ready === true && found;
      });
      const waiting = (sql: postgres.Sql) => sql`select from pg_stat_activity where wait_event = 'PgSleep'`;
      const url = `postgres://headwater:${password}@127.0.0.1:${port}/postgres`;
      await eventually(async () => (await query(url, waiting)).length > 0, { what: 'the command to read' });
      expect(await hw.end('SIGINT')).toMatchObject({ code: 130 });
      await eventually(async () => (await readPostmaster(cluster)) === undefined, { what: 'the database to stop' });
    } finally {
      await hw.end();
      // If the database still runs, it must be adopted to be stopped.
      await (await startEmbeddedPostgres({ dataDir, log: testLog })).stop();
      await user.remove();
    }
  },
  120_000,
);
