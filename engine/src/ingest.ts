import { HeadwaterError, LIMITS, newId } from '@headwater/shared';
import type { EndpointRoute, Ingest, RunResponse } from './contract.ts';
import type { NodeLease } from './nodes/node-lease.ts';
import type { Dispatcher } from './run/dispatcher.ts';
import { createBatcher } from './store/batcher.ts';
import type { Sql } from './store/database.ts';
import { insertInvocations, type NewInvocation } from './store/insert-invocations.ts';
import { readEndpoint } from './store/read-endpoint.ts';

export interface IngestOptions {
  sql: Sql;
  node: NodeLease;
  dispatcher: Dispatcher;
}

export interface IngestCache {
  forgetSource(sourceId: string): void;
  forgetAll(): void;
}

const MAX_CACHED_ROUTES = 50_000;
const MAX_BATCH = 256;
/** A client waits for its answer meanwhile. */
const MIN_INTERVAL_MS = 4;

/**
 * Accepts requests: a row leased by this node while it has room, else one that any node's lane picks up. What arrives
 * while a commit is in flight shares the next one.
 */
export function createIngest(options: IngestOptions): Ingest & IngestCache {
  const routes = new Map<string, EndpointRoute>();
  let forgotten = 0;
  const batcher = createBatcher<NewInvocation, undefined>({
    maxBatch: MAX_BATCH,
    minIntervalMs: MIN_INTERVAL_MS,
    commit: async (rows) => {
      await insertInvocations(options.sql, rows);
      return rows.map(() => undefined);
    },
  });

  async function accept(route: EndpointRoute, event: string): ReturnType<Ingest['accept']> {
    const hasRoom = options.dispatcher.capacity() > batcher.size();
    if (route.customResponse && !hasRoom) {
      throw new HeadwaterError('UNAVAILABLE', `More than ${LIMITS.maxHeldInvocations} runs are under way; try again`);
    }
    const { accountId, sourceId } = route;
    const id = newId('invocation');
    const leasedBy = options.node.id();
    await batcher.add({ id, accountId, sourceId, kind: 'http', event, ...(hasRoom ? { leasedBy } : {}) });
    if (!hasRoom) return { invocationId: id };
    const held = { id, accountId, sourceId, kind: 'http' as const, event, attempts: 1, leasedBy };
    if (!route.customResponse) {
      options.dispatcher.take([held]);
      return { invocationId: id };
    }
    const response = new Promise<RunResponse>((resolve) => options.dispatcher.take([{ ...held, respond: resolve }]));
    return { invocationId: id, response };
  }

  return {
    async route(endpointKey) {
      const known = routes.get(endpointKey);
      if (known !== undefined) return known;
      const forgottenBefore = forgotten;
      const found = await readEndpoint(options.sql, endpointKey);
      // A change that came while we read may have made the answer old: it serves this request but is not kept.
      if (found === undefined || forgotten !== forgottenBefore) return found;
      if (routes.size >= MAX_CACHED_ROUTES) routes.clear();
      routes.set(endpointKey, found);
      return found;
    },
    accept,
    forgetSource(sourceId) {
      forgotten++;
      for (const [key, route] of routes) {
        if (route.sourceId === sourceId) routes.delete(key);
      }
    },
    forgetAll() {
      forgotten++;
      routes.clear();
    },
  };
}
