import type { EventPosition } from '../../events/index.ts';
import type { Sql } from '../../db/index.ts';

export interface FoundEvent {
  emitterId: string;
  channel: string;
  ts: number | null;
  data: string;
}

/** An event by its id, of the emitter given or of whichever of the account's has one of that id. */
export async function findEventOfAccount(
  sql: Sql,
  accountId: string,
  { ms, seq }: EventPosition,
  emitterId: string | undefined,
): Promise<FoundEvent | undefined> {
  const [row] = await sql<{ emitter_id: string; channel: string; ts: number | null; data: string }[]>`
    select e.emitter_id, e.channel, e.ts, e.data
    from emitters m
    join events e on e.emitter_id = m.id and e.indexed_at_ms = ${ms} and e.seq = ${seq} and e.account_id = m.account_id
    where m.account_id = ${accountId} ${emitterId === undefined ? sql`` : sql`and m.id = ${emitterId}`}
    order by m.id limit 1`;
  return row === undefined
    ? undefined
    : { emitterId: row.emitter_id, channel: row.channel, ts: row.ts, data: row.data };
}
