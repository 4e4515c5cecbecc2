import { HeadwaterError } from '@headwater/shared';
import type { EndpointRoute, RunResponse } from '../../contract/index.ts';
import { type Batcher, createBatcher, type Sql } from '../../db/index.ts';
import type { StatCount } from '../../events/index.ts';
import { type Dispatcher, noRoomToAnswer, type WaitingClients } from '../../runs/index.ts';
import { insertInTurn, type NewTurn } from './insert-in-turn.sql.ts';
import type { Turns } from './turns.ts';

const RETRY_AFTER_SECONDS = 1;

/** The error for a request or a manual run when the workflow's queue is full. */
function queueIsFull(workflowId: string, queueLimit: number): HeadwaterError {
  const message = `Workflow ${workflowId} has ${queueLimit} executions waiting, as many as its setting queue_limit allows; try again later`;
  return new HeadwaterError('RATE_LIMITED', message, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    fields: [{ path: 'settings.queue_limit', message: `${queueLimit} executions wait` }],
    limit: { name: 'queue_limit', value: queueLimit, used: queueLimit + 1 },
  });
}

export interface InTurnIntakeOptions {
  sql: Sql;
  nodeId: () => string;
  dispatcher: Pick<Dispatcher, 'capacity'>;
  turns: Pick<Turns, 'next'>;
  clients: WaitingClients;
  /** Default: nothing is counted. */
  stats?: StatCount;
}

interface Accepted {
  invocationId: string;
  response?: Promise<RunResponse>;
}

export interface InTurnIntake {
  /** `id`: of the execution that it becomes. */
  accept(route: EndpointRoute, event: string, id: string): Promise<Accepted>;
  /** Resolves once it is durable; rejects where the workflow's queue is full. */
  queue(turn: NewTurn): Promise<void>;
  /** See Ingest.endWaits. */
  endWaits(): void;
}

const MAX_BATCH = 256;
/** A client waits for its answer meanwhile. */
const MIN_INTERVAL_MS = 4;

/**
 * Queues executions of workflows whose settings control when they start. Resolves once they are
 * durable.
 */
export function createInTurnIntake(options: InTurnIntakeOptions): InTurnIntake {
  const { clients } = options;
  // One for each tenant: to count a long queue takes time, and only its owner waits for that.
  const tenants = new Map<string, { batcher: Batcher<NewTurn, boolean>; pending: number }>();

  async function insert(turn: NewTurn): Promise<boolean> {
    const tenant = tenants.get(turn.accountId) ?? { batcher: createTurnBatcher(options.sql), pending: 0 };
    tenants.set(turn.accountId, tenant);
    tenant.pending += 1;
    try {
      return await tenant.batcher.add(turn);
    } finally {
      tenant.pending -= 1;
      if (tenant.pending === 0) tenants.delete(turn.accountId);
    }
  }

  async function queue(turn: NewTurn): Promise<void> {
    if (!(await insert(turn))) throw queueIsFull(turn.sourceId, turn.queueLimit ?? 0);
    options.stats?.add(turn.accountId, [turn.sourceId], 'received', 1);
    options.turns.next({ accountId: turn.accountId, workflowId: turn.sourceId });
  }

  async function accept(
    { accountId, sourceId, propName: httpProp, customResponse, inTurn }: EndpointRoute,
    event: string,
    id: string,
  ): Promise<Accepted> {
    const turn = { id, accountId, sourceId, kind: 'http' as const, httpProp, event, queueLimit: inTurn?.queueLimit };
    if (!customResponse) {
      await queue(turn);
      return { invocationId: id };
    }
    if (clients.count(accountId) >= options.dispatcher.capacity(accountId)) throw noRoomToAnswer();
    // Before it is durable: from then on it may be claimed.
    const response = clients.expect(id, accountId);
    try {
      await queue({ ...turn, wantedBy: options.nodeId() });
    } catch (error) {
      clients.take(id);
      throw error;
    }
    return { invocationId: id, response };
  }

  return { accept, queue, endWaits: clients.stop };
}

function createTurnBatcher(sql: Sql): Batcher<NewTurn, boolean> {
  return createBatcher({
    maxBatch: MAX_BATCH,
    minIntervalMs: MIN_INTERVAL_MS,
    commit: (rows) => insertInTurn(sql, rows, { startsNext: true }),
  });
}
