import type { RunResponse } from '../contract/index.ts';
import type { HeldInvocation, StatCount } from '../events/index.ts';
import { type Batcher, type BatcherWatch, createBatcher, growingInterval, type Sql } from '../db/index.ts';
import { insertInvocations, type NewInvocation } from './invocations.sql.ts';
import type { AccountBacklogs } from './counts/account-backlogs.ts';
import type { Dispatcher } from './dispatcher.ts';

export interface IntakeOptions {
  sql: Sql;
  nodeId: () => string;
  dispatcher: Pick<Dispatcher, 'capacity' | 'capacityToAnswer' | 'take'>;
  backlogs: Pick<AccountBacklogs, 'queue'>;
  /** Default: nothing is counted. */
  stats?: StatCount;
  watch?: BatcherWatch;
}

type NewHeldInvocation = Pick<HeldInvocation, 'id' | 'accountId' | 'sourceId' | 'kind' | 'propName' | 'event'>;

/** Accepts what requests bring to be run. */
export interface Intake {
  /**
   * Whether this node has enough to do, and what comes now waits in the database for any node.
   * `asked`: a client waits for it.
   */
  isFull(accountId: string, asked?: boolean): boolean;
  /**
   * Resolves when it is durable; where the intake is not full, this node goes on with it at once.
   * Throws as AccountBacklogs.queue.
   */
  add(invocation: NewHeldInvocation, respond?: (response: RunResponse) => void): Promise<void>;
  /** Runs it without storing it. Only while the intake is not full, and for a client that waits. */
  runUnstored(invocation: NewHeldInvocation, respond: (response: RunResponse) => void): void;
}

const MAX_BATCH = 256;
/**
 * Characters of the events in one insert, unless a single event has more. The events of all other
 * tenants wait for this insert.
 */
const MAX_BATCH_CHARS = 1_000_000;
/** Maximum of one account while others are active. */
const MAX_TENANT_CHARS = 256 * 1024;
/**
 * A client waits for its answer meanwhile: with few clients there is little to share, and the wait
 * is shorter.
 */
const INTERVAL_MS = growingInterval(4, 1 / 8);

/** Has no lease that a node could lose. */
const NO_NODE = '';

/**
 * A row leased by this node while it has room, else one that any node's lane picks up. What arrives
 * while a commit is in flight shares the next one.
 */
export function createIntake({ sql, nodeId, dispatcher, backlogs, stats, watch }: IntakeOptions): Intake {
  const batcher = createInsertBatcher(sql, watch);
  const isFull = (accountId: string, asked = false) =>
    (asked ? dispatcher.capacityToAnswer(accountId) : dispatcher.capacity(accountId)) <= batcher.size();
  return {
    isFull,
    async add({ propName, ...invocation }, respond) {
      const { accountId, sourceId, event } = invocation;
      const row = { ...invocation, ...(propName === undefined ? {} : { httpProp: propName }) };
      if (isFull(accountId, respond !== undefined)) {
        await backlogs.queue(accountId, event.length, () => batcher.add(row));
        stats?.add(accountId, [sourceId], 'received', 1);
        return;
      }
      const leasedBy = nodeId();
      await batcher.add({ ...row, leasedBy });
      stats?.add(accountId, [sourceId], 'received', 1);
      const held = { ...invocation, propName, crashes: 0, attempts: 1, leasedBy, claim: 1 };
      dispatcher.take([respond === undefined ? held : { ...held, respond }]);
    },
    runUnstored(invocation, respond) {
      stats?.add(invocation.accountId, [invocation.sourceId], 'received', 1);
      dispatcher.take([
        { ...invocation, crashes: 0, attempts: 1, leasedBy: NO_NODE, claim: 1, isUnstored: true, respond },
      ]);
    },
  };
}

function createInsertBatcher(sql: Sql, watch?: BatcherWatch): Batcher<NewInvocation, undefined> {
  return createBatcher<NewInvocation, undefined>({
    maxBatch: MAX_BATCH,
    ...(watch === undefined ? {} : { watch }),
    minIntervalMs: INTERVAL_MS,
    share: {
      tenantOf: (row) => row.accountId,
      weightOf: (row) => row.event.length,
      maxWeight: MAX_BATCH_CHARS,
      maxTenantWeight: MAX_TENANT_CHARS,
    },
    commit: async (rows) => {
      await insertInvocations(sql, rows);
      return rows.map(() => undefined);
    },
  });
}
