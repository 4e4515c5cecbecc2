import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@headwater/shared';
import { every, isConnectionLost, type LeaseCheck, type Sql } from '../db/index.ts';
import type { Log } from '../contract/index.ts';
import { hasDeadNodes, heartbeatNode, registerNode, releaseDeadNodes, releaseNode } from './nodes.sql.ts';
import { ownAddresses } from './node-ports.ts';
import { requeueWaiting } from './requeue-waiting.ts';
import { createSteadiness, type Steadiness } from './steadiness.ts';

/*
 * States of a node, and the transitions between them:
 *
 *   certain      a heartbeat sent in the last CERTAIN_MS was answered: leases are this node's.
 *   uncertain    none was. `confirm` asks the database before a request or delivery goes out.
 *   dead         no heartbeat for DEAD_AFTER_MS, or no heartbeat and no connection for
 *                GONE_AFTER_MS. Any other node deletes its row, releases its leases and queues the
 *                rows again.
 *   certain      a heartbeat finds its row gone: listeners lose the old id, a new one is taken.
 *
 * Every write of a leased row names holder and claim. So a node that wakes up dead changes no row
 * that others have taken over. While the database is unreachable no node is declared dead
 * (`steadiness`). A crash leaves the row without heartbeats; other nodes release its leased rows.
 */

/** This process's registration as a holder of leases. */
export interface NodeLease extends LeaseCheck {
  /**
   * Under which new rows are leased. It changes when the node was declared dead while it was only
   * slow.
   */
  id(): string;
  /** Called with the id that is over. */
  onLost(listener: (nodeId: string) => void): void;
  /**
   * The name under which this process locks jobs from now on. It is unlocked when the node is found
   * dead.
   */
  locksJobsAs(jobPool: string): void;
  /** Gives everything back and ends the registration. Idempotent. */
  stop(): Promise<void>;
}

export interface NodeLeaseOptions {
  sql: Sql;
  /**
   * A client with one connection for heartbeats only, so that a silent connection or a busy pool
   * does not make the node look dead. Default: `sql`.
   */
  beatSql?: Sql;
  role: string;
  /** Id of the master key that seals secrets; absent if the key comes from a file. */
  encryptionKeyId?: string;
  /** At all addresses of this machine. Default: none. */
  listeningPorts?: () => readonly number[];
  log: Log;
  /** Milliseconds that go on while the process stands still. Default: those of `performance`. */
  nowMs?: () => number;
  /** Recovery work besides dead nodes' leases, done by whichever node comes by. */
  maintain: () => Promise<void>;
}

const HEARTBEAT_MS = 2_000;
/**
 * Five missed heartbeats: long enough for a slow disk, short enough that a dead node's rows do not
 * wait long.
 */
const DEAD_AFTER_MS = 10_000;
/**
 * For a node whose database connection has ended, as it does at once when the process dies. A
 * living node reconnects sooner, even if a heartbeat goes unanswered first.
 */
const GONE_AFTER_MS = 7_000;
/** How often dead nodes are looked for. */
const LOOK_MS = 1_000;
/**
 * Shorter than GONE_AFTER_MS: a request begun at the last moment still goes out before the node
 * counts as dead.
 */
const CERTAIN_MS = 5_000;
/** Between questions to a database that is away. */
const CONFIRM_AGAIN_MS = 500;
const MAINTENANCE_MS = 5_000;
/** A database that crashes while a node starts loses the connection of its registration. */
const MAX_REGISTRATIONS = 4;
const REGISTRATION_PAUSE_MS = 500;

/**
 * Registers the node and renews the registration with heartbeats, which keep its leases valid.
 * Regularly releases what dead nodes held. Every write of a leased row names its holder. So a node
 * that was declared dead changes no row that others have taken over; it goes on under a new id.
 */
export async function startNodeLease(options: NodeLeaseOptions): Promise<NodeLease> {
  const { sql, beatSql = sql, role, encryptionKeyId, listeningPorts = () => [], log } = options;
  const { nowMs = () => performance.now() } = options;
  // No heartbeat arrives while the database is unreachable. Afterwards other nodes get time to
  // renew before this node declares them dead.
  const steadiness = createSteadiness({ gapMs: 2 * HEARTBEAT_MS, steadyMs: GONE_AFTER_MS });
  const registration = await createRegistration({ beatSql, nowMs, log, register: () => register(), steadiness });

  /**
   * Answers the new id, which no lease has before it has its row: a lease of an id without a row is
   * a dead node's. A row whose answer was lost is one of a node that never beats.
   */
  async function register(tries = 1): Promise<string> {
    const registered = newId('node');
    const ports = [...listeningPorts()];
    const place = ports.length === 0 ? {} : { addresses: ownAddresses(), ports };
    const key = encryptionKeyId === undefined ? {} : { encryptionKeyId };
    try {
      await registerNode(sql, { id: registered, role, ...key, ...place });
    } catch (error) {
      if (tries === MAX_REGISTRATIONS || !isConnectionLost(error)) throw error;
      await sleep(REGISTRATION_PAUSE_MS);
      return register(tries + 1);
    }
    return registered;
  }

  const deadNodes = () => ({
    deadAfterMs: DEAD_AFTER_MS,
    goneAfterMs: GONE_AFTER_MS,
    exceptId: registration.id(),
  });

  async function takeOver(): Promise<void> {
    if (!steadiness.isSteady()) return;
    const released = await releaseDeadNodes(sql, deadNodes());
    if (released.nodes.length === 0) return;
    log.warn(released, 'took over from dead nodes');
    await requeueWaiting(sql, 0);
  }

  async function look(): Promise<void> {
    if (steadiness.isSteady() && (await hasDeadNodes(sql, deadNodes()))) await takeOver();
  }

  async function maintain(): Promise<void> {
    await takeOver();
    await options.maintain();
  }

  const stopLook = every(LOOK_MS, look, (err) => log.warn({ err }, 'dead nodes could not be looked for'));
  const stopBeat = every(HEARTBEAT_MS, registration.beat, (err) => log.error({ err }, 'the heartbeat failed'));
  const stopMaintenance = every(MAINTENANCE_MS, maintain, (err) => log.error({ err }, 'maintenance failed'));
  let stopping: Promise<void> | undefined;
  const { id, isCertain, confirm, onLost, locksJobsAs } = registration;
  return {
    id,
    isCertain,
    confirm,
    onLost,
    locksJobsAs,
    stop() {
      stopping ??= (async () => {
        registration.end();
        await Promise.all([stopLook(), stopBeat(), stopMaintenance()]);
        await releaseNode(sql, id());
      })();
      return stopping;
    },
  };
}

interface RegistrationOptions extends Required<Pick<NodeLeaseOptions, 'beatSql' | 'nowMs' | 'log'>> {
  register: () => Promise<string>;
  steadiness: Steadiness;
}

/** The node's id, and how sure it can be of it. */
interface Registration extends Omit<NodeLease, 'stop'> {
  /** Sends a heartbeat. Takes a new id if the node was declared dead. */
  beat(): Promise<void>;
  /** Nothing is confirmed any more. */
  end(): void;
}

async function createRegistration(options: RegistrationOptions): Promise<Registration> {
  const { beatSql, nowMs, log, register, steadiness } = options;
  let aliveAtMs = nowMs();
  let id = await register();
  const listeners = new Set<(nodeId: string) => void>();
  let beating: Promise<void> | undefined;
  let isEnding = false;
  let jobPool: string | undefined;
  const say = () => heartbeatNode(beatSql, id, jobPool);

  async function beatOnce(): Promise<void> {
    const askedAtMs = nowMs();
    // Retries at once if the connection was lost: the retry uses a new one, and the node is not
    // declared dead.
    const isAlive = await say().catch(say);
    steadiness.beat();
    if (isAlive) {
      aliveAtMs = askedAtMs;
      return;
    }
    const lost = id;
    // Before the new one has its row: what runs under the old one is to stop at once.
    for (const listener of listeners) listener(lost);
    id = await register();
    aliveAtMs = askedAtMs;
    log.warn({ lost, id }, 'this node had been declared dead; it goes on under a new id');
  }

  /** One at a time, for all that want one meanwhile. */
  function beat(): Promise<void> {
    beating ??= beatOnce().finally(() => (beating = undefined));
    return beating;
  }

  const isCertain = (leasedBy: string) => leasedBy === id && nowMs() - aliveAtMs < CERTAIN_MS;
  return {
    id: () => id,
    isCertain,
    async confirm(leasedBy) {
      while (leasedBy === id && !isCertain(leasedBy)) {
        if (isEnding) return false;
        await beat().catch(() => sleep(CONFIRM_AGAIN_MS));
      }
      return leasedBy === id;
    },
    onLost: (listener) => void listeners.add(listener),
    locksJobsAs: (pool) => (jobPool = pool),
    beat,
    end() {
      isEnding = true;
    },
  };
}
