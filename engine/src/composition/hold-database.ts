import type { Log } from '../contract/index.ts';
import { migrate, openDatabase, prepareDatabase } from '../db/index.ts';
import { releaseAllNodes, requeueWaiting } from '../cluster/index.ts';

export interface HoldDatabaseOptions {
  dataDir: string;
  /** Nodes that connect to it at the same time. */
  maxNodes: number;
  log: Log;
}

export interface HeldDatabase {
  /** For the nodes: `databaseUrl` of theirs, with `sharesEmbedded`. */
  url: string;
  /** Idempotent. */
  stop(): Promise<void>;
}

/** The pools of a node: work, jobs, heartbeats and notifications. */
const CONNECTIONS_OF_NODE = 40;
/** Tools of the operator, and the server itself. */
const OTHER_CONNECTIONS = 20;

/**
 * The embedded database for several nodes of this machine, which this process alone owns. It is
 * migrated, and rid of the nodes that a process before this one has left in it.
 */
export async function holdDatabase({ dataDir, maxNodes, log }: HoldDatabaseOptions): Promise<HeldDatabase> {
  const maxConnections = Math.max(100, maxNodes * CONNECTIONS_OF_NODE + OTHER_CONNECTIONS);
  const settings = { max_connections: String(maxConnections) };
  const prepared = await prepareDatabase({ dataDir, log, settings });
  try {
    await migrate({ url: prepared.url, log });
    const db = openDatabase({ url: prepared.url, maxConnections: 2 });
    try {
      const { nodes } = await releaseAllNodes(db.sql);
      if (nodes.length > 0) await requeueWaiting(db.sql, 0);
    } finally {
      await db.close();
    }
    return { url: prepared.url, stop: () => prepared.stop() };
  } catch (error) {
    await prepared.stop();
    throw error;
  }
}
