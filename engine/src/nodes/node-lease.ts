import { newId } from '@headwater/shared';
import { every } from '../every.ts';
import type { Log } from '../log.ts';
import type { Sql } from '../store/database.ts';
import { heartbeatNode } from '../store/heartbeat-node.ts';
import { registerNode } from '../store/register-node.ts';
import { releaseDeadNodes, releaseNode } from '../store/release-nodes.ts';
import { ownAddresses } from './node-ports.ts';
import { requeueWaiting } from './requeue-waiting.ts';

/** This process's registration as a holder of leases. */
export interface NodeLease {
  /** Under which new rows are leased. It changes when the node was declared dead while it was only slow. */
  id(): string;
  /** Gives everything back and ends the registration. Idempotent. */
  stop(): Promise<void>;
}

export interface NodeLeaseOptions {
  sql: Sql;
  /** Of one connection, for heartbeats alone: one that falls silent, or a pool that is busy, is no reason to be taken for dead. Default: `sql`. */
  beatSql?: Sql;
  role: string;
  /** Of the master key that it seals with; absent where that comes from a file. */
  encryptionKeyId?: string;
  /** At all addresses of this machine. Default: none. */
  listeningPorts?: () => readonly number[];
  log: Log;
  /** Recovery work besides dead nodes' leases, done by whichever node comes by. */
  maintain: () => Promise<void>;
}

const HEARTBEAT_MS = 2_000;
/** Five heartbeats missed: long enough for a slow disk, short enough that nobody waits long for a dead node's rows. */
const DEAD_AFTER_MS = 10_000;
const MAINTENANCE_MS = 5_000;

/**
 * Registers the node and keeps it registered: a heartbeat says that its leases count; every few seconds it releases what
 * dead nodes held. Every write of a leased row names the lease's holder, so a node that wakes up after it was declared dead
 * writes nothing of what others have taken over; it goes on under a new id.
 */
export async function startNodeLease(options: NodeLeaseOptions): Promise<NodeLease> {
  const { sql, beatSql = sql, role, encryptionKeyId, listeningPorts = () => [], log } = options;
  let id = await register();

  /** Answers the new id, which is nobody's before it has its row: what is leased by an id without one is a dead node's. */
  async function register(): Promise<string> {
    const registered = newId('node');
    const ports = [...listeningPorts()];
    const place = ports.length === 0 ? {} : { addresses: ownAddresses(), ports };
    const key = encryptionKeyId === undefined ? {} : { encryptionKeyId };
    await registerNode(sql, { id: registered, role, ...key, ...place });
    return registered;
  }

  async function beat(): Promise<void> {
    if (await heartbeatNode(beatSql, id)) return;
    const lost = id;
    id = await register();
    log.warn({ lost, id }, 'this node had been declared dead; it goes on under a new id');
  }

  async function maintain(): Promise<void> {
    const released = await releaseDeadNodes(sql, { deadAfterMs: DEAD_AFTER_MS, exceptId: id });
    if (released.nodes.length > 0) {
      log.warn(released, 'took over from dead nodes');
      await requeueWaiting(sql, 0);
    }
    await options.maintain();
  }

  const stopBeat = every(HEARTBEAT_MS, beat, (err) => log.error({ err }, 'the heartbeat failed'));
  const stopMaintenance = every(MAINTENANCE_MS, maintain, (err) => log.error({ err }, 'maintenance failed'));
  let stopping: Promise<void> | undefined;
  return {
    id: () => id,
    stop() {
      stopping ??= (async () => {
        await Promise.all([stopBeat(), stopMaintenance()]);
        await releaseNode(sql, id);
      })();
      return stopping;
    },
  };
}
