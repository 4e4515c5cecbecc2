import type postgres from 'postgres';

/**
 * Attacks that fill the same room of the server do so one after the other: which of them is cut off
 * is a matter of who began first.
 */
export async function inTurn(sql: postgres.Sql, room: string, attack: () => Promise<void>): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${room}, 0))`;
    await attack();
  });
}
