import type { Sql } from './database.ts';

export interface LiveNode {
  id: string;
  role: string;
  /** Id of the master key that seals secrets; null if the key comes from a file. */
  encryptionKeyId: string | null;
}

/** Nodes that were seen within `withinMs`, by the database's clock. */
export async function readLiveNodes(sql: Sql, withinMs: number): Promise<LiveNode[]> {
  return sql<LiveNode[]>`
    select id, role, encryption_key_id as "encryptionKeyId" from nodes
    where seen_at > now() - make_interval(secs => ${withinMs / 1000}::float8) order by started_at`;
}

export interface ListeningNode {
  addresses: string[];
  ports: number[];
}

/** All but one, also those that were not seen for a while: they may only be slow. */
export async function readListeningNodes(sql: Sql, exceptId: string): Promise<ListeningNode[]> {
  return sql<ListeningNode[]>`select addresses, ports from nodes where id <> ${exceptId} and ports <> '{}'`;
}
