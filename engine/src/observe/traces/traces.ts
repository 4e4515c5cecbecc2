import { LIMITS, notFound } from '@headwater/shared';
import { createBoundedTurns } from '../../fairness/index.ts';
import type { TraceRecord, Traces } from '../../contract/index.ts';
import type { Sql, Transaction } from '../../db/index.ts';
import { readExecutions } from '../read-executions.sql.ts';
import {
  findTraceId,
  readNames,
  readTraceData,
  readTraceEvents,
  readTraceHolders,
  readTraceMissed,
  readTraceSends,
  readTraceSteps,
  readTraceSubscriptions,
} from './read-trace.sql.ts';
import { readTraceDeliveries } from './read-trace-deliveries.sql.ts';
import { readTraceExecutionIds, readTraceRuns } from './read-trace-runs.sql.ts';
import { emitIdOf, inOneSnapshot } from '../../events/index.ts';
import { buildTrace, type TraceParts } from './build-trace.ts';
import { eventsToFilter } from './filtered-listeners.ts';

const ID = /^\w+(-\d+-\d+)?$/;
/** One more than is shown tells that there are more. */
const LIMIT = LIMITS.maxTraceRows + 1;

/**
 * Rest after a trace, in multiples of its duration, so others get two thirds of the time. A trace
 * of more than a second has waited for others itself.
 */
const REST = 2;
const MAX_REST_MS = 2_000;

/**
 * One at a time of an account, each followed by a rest: some are hundreds of events with thousands
 * of listeners.
 */
export function createTraces(sql: Sql): Traces {
  const turns = createBoundedTurns('maxTracesPerTenant', 'requests for traces');
  return {
    get: ({ accountId }, id) =>
      turns.run(
        accountId,
        () => find(accountId, id),
        (tookMs) => Math.min(REST * tookMs, MAX_REST_MS),
      ),
  };

  async function find(accountId: string, id: string): Promise<TraceRecord> {
    // One snapshot: an end that is shown was committed with the events that it brought.
    const found = ID.test(id) ? await inOneSnapshot(sql, (tx) => readTrace(tx, accountId, id)) : undefined;
    if (found === undefined) throw notFound('trace', id);
    const built = await buildTrace(found.parts);
    return { id: found.traceId, isCut: found.isCut || built.isCut, runs: built.runs };
  }
}

interface FoundTrace {
  traceId: string;
  parts: TraceParts;
  isCut: boolean;
}

async function readTrace(sql: Transaction, accountId: string, asked: string): Promise<FoundTrace | undefined> {
  const traceId = (await findTraceId(sql, accountId, asked)) ?? asked;
  const events = await readTraceEvents(sql, accountId, traceId, LIMIT);
  const shown = events.slice(0, LIMITS.maxTraceRows);
  const emitting = [...new Set([traceId, ...shown.flatMap((event) => event.invocation_id ?? [])])];
  const runs = await readTraceRuns(sql, accountId, emitting, shown, LIMIT);
  const executionIds = await readTraceExecutionIds(sql, accountId, traceId, shown, LIMIT);
  const deliveries = await readTraceDeliveries(sql, accountId, shown, LIMIT);
  const missed = await readTraceMissed(sql, accountId, traceId, shown, LIMIT);
  const subscriptions = await readTraceSubscriptions(sql, accountId, shown);
  const data = await readTraceData(sql, accountId, eventsToFilter(shown, subscriptions), LIMITS.maxTraceFilteredBytes);
  const sends = await readTraceSends(sql, accountId, traceId, LIMIT);
  const shownIds = executionIds.slice(0, LIMITS.maxTraceRows);
  const executions = await readExecutions(sql, accountId, shownIds, { maxEventBytes: 0 });
  const steps = await readTraceSteps(sql, accountId, executionIds, LIMIT);
  const rows = { events, runs, executionIds, deliveries, missed, sends, steps };
  if (shown.length + runs.length + executions.length + missed.length === 0) return undefined;
  const isCut =
    Object.values(rows).some(({ length }) => length > LIMITS.maxTraceRows) ||
    [...runs, ...steps].some(({ logs }) => logs === null) ||
    [...deliveries, ...sends].some(({ attempts }) => attempts.length > LIMITS.maxTraceAttempts) ||
    missed.some(({ reason }) => reason === 'more');
  const going = [...runs, ...executions].filter(({ status }) => status === 'queued' || status === 'running');
  const holders =
    going.length === 0
      ? []
      : await readTraceHolders(
          sql,
          accountId,
          going.map(({ id }) => id),
        );
  const parts = {
    events: shown,
    runs,
    executions,
    steps,
    deliveries,
    missed,
    subscriptions,
    sends,
    holders,
    data: new Map(data.map((row) => [emitIdOf(row.emitter_id, { ms: row.indexed_at_ms, seq: row.seq }), row.data])),
  };
  const names = await readNames(sql, accountId, namedIn(parts));
  return { traceId, isCut, parts: { ...parts, names } };
}

function namedIn({ events, runs, executions, deliveries, missed, subscriptions }: Omit<TraceParts, 'names'>): string[] {
  const ids = [
    ...events.map((row) => row.emitter_id),
    ...runs.map((row) => row.source_id),
    ...executions.map((row) => row.workflowId),
    ...deliveries.map((row) => row.webhook_id),
    ...missed.map((row) => row.listener_id ?? ''),
    ...subscriptions.map((row) => row.listener_id),
  ];
  return [...new Set(ids)];
}
