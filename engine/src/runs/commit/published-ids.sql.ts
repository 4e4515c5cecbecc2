import type { CommitPlan, RunCommit } from './commit-plan.ts';
import type { EventPosition } from '../../events/index.ts';
import { publishedIdOf } from './published.ts';
import { rowsOf, type Sql } from '../../db/index.ts';

export interface PublishedIdRow {
  emitter_id: string;
  id: string;
  indexed_at_ms: number;
  seq: number;
}

/**
 * The known ids among the events that these runs publish. The rows of their emitters are locked.
 */
export function readPublishedIds(sql: Sql, runs: readonly RunCommit[]): Promise<PublishedIdRow[]> | PublishedIdRow[] {
  const wanted = runs
    .filter(({ publishedAs }) => publishedAs !== undefined)
    .flatMap(({ sourceId, emits }) =>
      emits.flatMap((event) => {
        const id = publishedIdOf(event);
        return id === undefined ? [] : [{ sourceId, id }];
      }),
    );
  if (wanted.length === 0) return [];
  return sql<PublishedIdRow[]>`
    select p.emitter_id, p.id, p.indexed_at_ms, p.seq from published_ids p
    join (
      select distinct * from unnest(
        ${wanted.map(({ sourceId }) => sourceId)}::text[], ${wanted.map(({ id }) => id)}::text[]
      ) as w(emitter_id, id)
    ) as w on w.emitter_id = p.emitter_id and w.id = p.id`;
}

/** By emitter, for planCommit. */
export function knownIds(rows: readonly PublishedIdRow[]): Map<string, Map<string, EventPosition>> {
  return new Map(
    [...Map.groupBy(rows, (row) => row.emitter_id)].map(([emitterId, ofOne]) => [
      emitterId,
      new Map(ofOne.map(({ id, indexed_at_ms: ms, seq }) => [id, { ms, seq }])),
    ]),
  );
}

export function insertPublishedIds(sql: Sql, { published, events }: CommitPlan): Promise<unknown> | undefined {
  const accounts = new Map(events.map(({ emitterId, accountId }) => [emitterId, accountId]));
  const rows = [...published].flatMap(([emitterId, ids]) =>
    [...ids].map(([id, position]) => ({ emitterId, id, position, accountId: accounts.get(emitterId) ?? '' })),
  );
  if (rows.length === 0) return undefined;
  return sql`
    insert into published_ids (emitter_id, id, account_id, indexed_at_ms, seq)
    select * from ${rowsOf(sql, [
      ['text', rows.map((row) => row.emitterId)],
      ['text', rows.map((row) => row.id)],
      ['text', rows.map((row) => row.accountId)],
      ['int8', rows.map((row) => row.position.ms)],
      ['int4', rows.map((row) => row.position.seq)],
    ])} as p
    on conflict (emitter_id, id) do nothing`;
}

/** Forgets those of events that were stored before; at most `limit`. Answers how many. */
export async function expirePublishedIds(sql: Sql, beforeMs: number, limit: number): Promise<number> {
  const rows = await sql`
    delete from published_ids p using (
      select emitter_id, id from published_ids where indexed_at_ms < ${beforeMs}::int8
      order by indexed_at_ms limit ${limit} for update skip locked
    ) as old
    where p.emitter_id = old.emitter_id and p.id = old.id`;
  return rows.count;
}
