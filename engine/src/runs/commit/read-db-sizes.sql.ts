import { LIMITS } from '@headwater/shared';
import type { RunCommit } from './commit-plan.ts';
import type { Sql } from '../../db/index.ts';

export interface DbSizeRow {
  source_id: string;
  key: string;
  bytes: number;
}

/**
 * Current sizes of the entries that these runs write, as counted for maxDbBytes. Postgres knows the
 * length of a long value without reading it.
 */
export function readDbSizes(connection: Sql, runs: readonly RunCommit[]): PromiseLike<DbSizeRow[]> | DbSizeRow[] {
  const entries = runs.flatMap((run) => [...run.dbWrites.keys()].map((key) => ({ sourceId: run.sourceId, key })));
  if (entries.length === 0) return [];
  return connection<DbSizeRow[]>`
    select d.source_id, d.key, octet_length(d.key) + octet_length(d.value) + ${LIMITS.dbEntryOverheadBytes}::int4 as bytes
    from component_db d join (
      select distinct source_id, key from unnest(
        ${entries.map(({ sourceId }) => sourceId)}::text[], ${entries.map(({ key }) => key)}::text[]
      ) as w(source_id, key)
    ) as w on d.source_id = w.source_id and d.key = w.key`;
}
