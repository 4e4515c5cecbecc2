import { type HistoryCount, historyRowBytes, type LimitsCache } from '../accounts/index.ts';
import type { CallerTrace, Log, SpanSink } from '../contract/index.ts';
import { createBatcher, mayBeOneItems, type Sql } from '../db/index.ts';
import { FairCache } from '../fairness/index.ts';
import { insertTraceContexts, type NewTraceContext, readTraceContexts } from './trace-contexts.sql.ts';
import { readCallerTrace, type TraceContext, traceIdOf, writeTraceparent } from './trace-ids.ts';

export interface TraceContexts {
  /**
   * Whether the account wants its callers' traces taken in and passed on. As of the last read of
   * its settings; false where there was none.
   */
  isWanted(accountId: string): boolean;
  /**
   * Stores the caller's trace with the id of the invocation that its request becomes. Nothing is
   * stored where the headers are none, or the account does not want it. It counts for the
   * account's history, because anyone who knows the endpoint can send more. Resolves once it is
   * durable.
   */
  keep(accountId: string, rootId: string, caller: CallerTrace | undefined): Promise<void>;
  /**
   * The trace that began with `rootId`. Never rejects: without the caller's trace it is our own.
   */
  of(accountId: string, rootId: string): TraceContext | Promise<TraceContext>;
  /** Headers by which a span of this trace tells another system of itself, as pairs. */
  headers(accountId: string, rootId: string, spanId: string): Promise<[name: string, value: string][]>;
}

export interface TraceContextsOptions {
  sql: Sql;
  limits: Pick<LimitsCache, 'passesTraces'>;
  history: HistoryCount;
  /** Absent: nothing is recorded here. */
  sink?: SpanSink | undefined;
  log: Log;
}

/** In memory: the trace of each request, for its runs and deliveries on this node. */
const MAX_KEPT = 20_000;
const MAX_BATCH = 256;
/** Maximum of one account while others are active: the answers of their requests wait for it. */
const MAX_TENANT_BATCH = 64;
/** A client waits for its answer meanwhile. */
const INTERVAL_MS = 2;

const BATCHES = {
  maxBatch: MAX_BATCH,
  minIntervalMs: INTERVAL_MS,
  share: {
    tenantOf: ({ accountId }: { accountId: string }) => accountId,
    weightOf: () => 1,
    maxWeight: MAX_BATCH,
    maxTenantWeight: MAX_TENANT_BATCH,
  },
};

export function createTraceContexts({ sql, limits, history, sink, log }: TraceContextsOptions): TraceContexts {
  const kept = new FairCache<string, { caller: TraceContext | undefined }>({ maxWeight: MAX_KEPT });
  // Nothing holds up an insert: the table has no foreign key, and ids are new.
  const inserts = createBatcher<NewTraceContext, undefined>({
    ...BATCHES,
    isItemsFault: mayBeOneItems,
    async commit(rows) {
      await insertTraceContexts(sql, rows);
      return rows.map(() => undefined);
    },
  });
  const reads = createBatcher<{ accountId: string; id: string }, CallerTrace | undefined>({
    ...BATCHES,
    commit: (keys) => readTraceContexts(sql, keys),
  });
  const remember = (accountId: string, rootId: string, caller: TraceContext | undefined) =>
    kept.set(accountId, `${accountId} ${rootId}`, { caller }, 1);

  async function read(accountId: string, rootId: string): Promise<TraceContext> {
    try {
      const row = await reads.add({ accountId, id: rootId });
      const caller = row && readCallerTrace(row);
      remember(accountId, rootId, caller);
      return caller ?? { traceId: traceIdOf(rootId) };
    } catch (err) {
      log.warn({ err, trace: rootId }, 'the trace of a caller could not be read; ours stands in its place');
      return { traceId: traceIdOf(rootId) };
    }
  }

  function of(accountId: string, rootId: string): TraceContext | Promise<TraceContext> {
    if (!limits.passesTraces(accountId)) return { traceId: traceIdOf(rootId) };
    const known = kept.get(`${accountId} ${rootId}`);
    if (known === undefined) return read(accountId, rootId);
    return known.caller ?? { traceId: traceIdOf(rootId) };
  }

  return {
    isWanted: limits.passesTraces,
    async keep(accountId, rootId, headers) {
      if (!limits.passesTraces(accountId)) return;
      const caller = headers && readCallerTrace(headers);
      remember(accountId, rootId, caller);
      if (caller === undefined) return;
      const { traceId, parentSpanId, parentSampled, traceState } = caller;
      // Not as it came: a later version's header may be longer.
      const traceparent = writeTraceparent(traceId, parentSpanId, parentSampled);
      const state = traceState === undefined ? {} : { tracestate: traceState };
      await inserts.add({ accountId, id: rootId, traceparent, ...state });
      history.add(accountId, historyRowBytes(traceparent, traceState));
    },
    of,
    async headers(accountId, rootId, spanId) {
      const { traceId, parentSampled, traceState } = await of(accountId, rootId);
      const isSampled = sink?.samples(traceId, parentSampled) ?? parentSampled ?? false;
      const traceparent = writeTraceparent(traceId, spanId, isSampled);
      return [
        ['traceparent', traceparent],
        ...(traceState === undefined ? [] : [['tracestate', traceState] as [string, string]]),
      ];
    },
  };
}
