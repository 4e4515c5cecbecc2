import type postgres from 'postgres';

/**
 * Runs attacks that fill the same budget of the server one after the other. Otherwise the order of
 * their starts decides which of them is cut off.
 */
export async function inTurn(sql: postgres.Sql, room: string, attack: () => Promise<void>): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${room}, 0))`;
    await attack();
  });
}
