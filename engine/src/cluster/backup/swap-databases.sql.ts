import type postgres from 'postgres';
import { DATABASE_NAME, postgresAt } from '../../db/index.ts';

/* `server` is connected to the maintenance database. */

const OLD_DATABASE = 'headwater_replaced';

/** Whether something would be lost with it. */
export async function hasAccounts(url: string): Promise<boolean> {
  const sql = postgresAt(url, { max: 1, onnotice: () => undefined });
  try {
    const [row] = await sql<{ has: boolean }[]>`select to_regclass('accounts') is not null as has`;
    return row?.has === true && (await sql`select from accounts limit 1`).length > 0;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Empty, also where a restore that was killed has left one. */
export async function makeDatabase(server: postgres.Sql, name: string): Promise<void> {
  await dropDatabase(server, name);
  await server`create database ${server(name)}`;
}

export async function dropDatabase(server: postgres.Sql, name: string): Promise<void> {
  await server`drop database if exists ${server(name)} with (force)`;
}

/** Both names change at once: a crash leaves the old database or the new one. */
export async function putInPlace(server: postgres.Sql, name: string): Promise<void> {
  await dropDatabase(server, OLD_DATABASE);
  await server.begin(async (tx) => {
    await tx`alter database ${tx(DATABASE_NAME)} rename to ${tx(OLD_DATABASE)}`;
    await tx`alter database ${tx(name)} rename to ${tx(DATABASE_NAME)}`;
  });
  // The new one is in place: the next restore drops the old one otherwise.
  await dropDatabase(server, OLD_DATABASE).catch(() => undefined);
}
