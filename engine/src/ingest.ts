import { HeadwaterError } from '@headwater/shared';
import type { LimitsCache } from './accounts/limits-cache.ts';
import type { EndpointRoute, Ingest, RunResponse } from './contract.ts';
import { createEndpointRoutes } from './endpoint-routes.ts';
import type { NodeLease } from './nodes/node-lease.ts';
import { createRequestRate } from './request-rate.ts';
import type { Dispatcher } from './run/dispatcher.ts';
import type { AccountBacklogs } from './run/account-backlogs.ts';
import { newInvocationId } from './run/invocation.ts';
import { noRoomToAnswer } from './run/no-room-to-answer.ts';
import { type Batcher, createBatcher } from './store/batcher.ts';
import type { Sql } from './store/database.ts';
import { insertInvocations, type NewInvocation } from './store/insert-invocations.ts';
import { readEndpoints } from './store/read-endpoints.ts';

export interface IngestOptions {
  sql: Sql;
  node: NodeLease;
  dispatcher: Dispatcher;
  limits: Pick<LimitsCache, 'known' | 'get'>;
  /** What is sent to a workflow whose settings say when its executions start. */
  acceptInTurn: Ingest['accept'];
  backlogs: Pick<AccountBacklogs, 'admit' | 'queue'>;
}

export interface IngestCache {
  forgetSource(sourceId: string): void;
  forgetAll(): void;
}

const MAX_BATCH = 256;
/** Characters of the events in one insert, unless a single one has more: everybody else's wait for it. */
const MAX_BATCH_CHARS = 1_000_000;
/** Of one account while there are others. */
const MAX_TENANT_CHARS = 256 * 1024;
/** A client waits for its answer meanwhile: with few clients there is little to share, and the wait is shorter. */
const MIN_INTERVAL_MS = 4;
const REQUESTS_PER_MS = 8;

/**
 * Accepts requests: a row leased by this node while it has room, else one that any node's lane picks up. What arrives
 * while a commit is in flight shares the next one.
 */
export function createIngest(options: IngestOptions): Ingest & IngestCache {
  const { sql, limits, backlogs } = options;
  const routes = createEndpointRoutes({ read: (keys) => readEndpoints(sql, keys), nowMs: Date.now });
  const rate = createRequestRate(() => performance.now());
  const batcher = createIntake(sql);

  /** Whether a request goes to the database for any node, not on at once on this one. */
  function waits({ accountId, inTurn }: EndpointRoute): boolean {
    return inTurn !== undefined || options.dispatcher.capacity(accountId) <= batcher.size();
  }

  async function accept(route: EndpointRoute, event: string): ReturnType<Ingest['accept']> {
    const { accountId, sourceId, propName } = route;
    const hasRoom = !waits(route);
    if (route.customResponse && route.inTurn === undefined && !hasRoom) throw noRoomToAnswer();
    if (route.inTurn !== undefined)
      return backlogs.queue(accountId, event.length, () => options.acceptInTurn(route, event));
    const id = newInvocationId(sourceId);
    const leasedBy = options.node.id();
    const row = { id, accountId, sourceId, kind: 'http' as const, httpProp: propName, event };
    if (!hasRoom) {
      await backlogs.queue(accountId, event.length, () => batcher.add(row));
      return { invocationId: id };
    }
    await batcher.add({ ...row, leasedBy });
    const held = { id, accountId, sourceId, kind: 'http' as const, propName, event, attempts: 1, leasedBy };
    if (!route.customResponse) {
      options.dispatcher.take([held]);
      return { invocationId: id };
    }
    const response = new Promise<RunResponse>((resolve) => options.dispatcher.take([{ ...held, respond: resolve }]));
    return { invocationId: id, response };
  }

  return {
    async route(endpointKey) {
      const route = await routes.get(endpointKey);
      if (route !== undefined && limits.known(route.accountId) === undefined) await limits.get(route.accountId);
      return route;
    },
    admit(route) {
      if (waits(route)) backlogs.admit(route.accountId);
      const perSecond = limits.known(route.accountId)?.maxRequestsPerSecond ?? 0;
      if (perSecond === 0) return;
      const waitSeconds = rate.take(`${route.sourceId} ${route.propName}`, perSecond);
      if (waitSeconds > 0) throw tooManyRequests(perSecond, waitSeconds);
    },
    accept,
    forgetSource: routes.forgetSource,
    forgetAll: routes.forgetAll,
  };
}

function createIntake(sql: Sql): Batcher<NewInvocation, undefined> {
  return createBatcher<NewInvocation, undefined>({
    maxBatch: MAX_BATCH,
    minIntervalMs: (lastBatch) => Math.min(MIN_INTERVAL_MS, (lastBatch - 1) / REQUESTS_PER_MS),
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

function tooManyRequests(perSecond: number, waitSeconds: number): HeadwaterError {
  return new HeadwaterError('RATE_LIMITED', `This endpoint takes ${perSecond} requests a second; try again later`, {
    retryAfterSeconds: Math.ceil(waitSeconds),
    limit: { name: 'maxRequestsPerSecond', value: perSecond, used: perSecond + 1 },
  });
}
