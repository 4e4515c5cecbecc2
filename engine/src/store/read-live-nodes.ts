import type { Sql } from './database.ts';

export interface LiveNode {
  id: string;
  role: string;
  /** Of the master key that it seals with; null where it takes it from a file. */
  encryptionKeyId: string | null;
}

/** Nodes that were seen within `withinMs`, by the database's clock. */
export async function readLiveNodes(sql: Sql, withinMs: number): Promise<LiveNode[]> {
  return sql<LiveNode[]>`
    select id, role, encryption_key_id as "encryptionKeyId" from nodes
    where seen_at > now() - make_interval(secs => ${withinMs / 1000}::float8) order by started_at`;
}
