import { LIMITS, notFound } from '@headwater/shared';
import type { TraceRecord, Traces } from '../contract-traces.ts';
import type { Sql } from '../store/database.ts';
import { readExecutions } from '../store/read-executions.ts';
import {
  findTraceId,
  readNames,
  readTraceDeliveries,
  readTraceEvents,
  readTraceExecutionIds,
  readTraceMissed,
  readTraceRuns,
  readTraceSends,
  readTraceSteps,
  readTraceSubscriptions,
} from '../store/read-trace.ts';
import { buildTrace, type TraceParts } from './build-trace.ts';

const ID = /^\w+(-\d+-\d+)?$/;
/** One more than is shown tells that there are more. */
const LIMIT = LIMITS.maxTraceRows + 1;

export function createTraces(sql: Sql): Traces {
  return {
    async get({ accountId }, id) {
      const traceId = ID.test(id) ? ((await findTraceId(sql, accountId, id)) ?? id) : undefined;
      const trace = traceId === undefined ? undefined : await readTrace(sql, accountId, traceId);
      if (trace === undefined) throw notFound('trace', id);
      return trace;
    },
  };
}

async function readTrace(sql: Sql, accountId: string, traceId: string): Promise<TraceRecord | undefined> {
  const events = await readTraceEvents(sql, accountId, traceId, LIMIT);
  const shown = events.slice(0, LIMITS.maxTraceRows);
  const emitting = [...new Set([traceId, ...shown.flatMap((event) => event.invocation_id ?? [])])];
  const [runs, executionIds, deliveries, missed, subscriptions, sends] = await Promise.all([
    readTraceRuns(sql, accountId, emitting, shown, LIMIT),
    readTraceExecutionIds(sql, accountId, traceId, shown, LIMIT),
    readTraceDeliveries(sql, accountId, shown, LIMIT),
    readTraceMissed(sql, accountId, traceId, shown, LIMIT),
    readTraceSubscriptions(sql, accountId, shown),
    readTraceSends(sql, accountId, traceId, LIMIT),
  ]);
  const [executions, steps] = await Promise.all([
    readExecutions(sql, accountId, executionIds.slice(0, LIMITS.maxTraceRows), { maxEventBytes: 0 }),
    readTraceSteps(sql, accountId, executionIds, LIMIT),
  ]);
  const rows = { events, runs, executionIds, deliveries, missed, sends, steps };
  if (shown.length + runs.length + executions.length + missed.length === 0) return undefined;
  const isCut =
    Object.values(rows).some(({ length }) => length > LIMITS.maxTraceRows) ||
    [...runs, ...steps].some(({ logs }) => logs === null) ||
    [...deliveries, ...sends].some(({ attempts }) => attempts.length > LIMITS.maxTraceAttempts) ||
    missed.some(({ reason }) => reason === 'more');
  const parts = { events: shown, runs, executions, steps, deliveries, missed, subscriptions, sends };
  const names = await readNames(sql, accountId, namedIn(parts));
  const built = await buildTrace({ ...parts, names });
  return { id: traceId, isCut: isCut || built.isCut, runs: built.runs };
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
