import { bundleComponent, startSandbox } from '@headwater/sandbox-runtime';
import { createAccounts } from './accounts/accounts.ts';
import { createComponents } from './components/components.ts';
import type { Engine } from './contract.ts';
import { createDeliverer } from './delivery/deliverer.ts';
import { createRetryPolicy } from './delivery/retry-policy.ts';
import { createSubscriptions } from './delivery/subscriptions.ts';
import { createWebhooks } from './delivery/webhooks.ts';
import { createEgress } from './egress/egress.ts';
import { createGuestFetch } from './egress/guest-fetch.ts';
import { endpointUrls } from './endpoint-urls.ts';
import type { EngineOptions } from './engine-options.ts';
import { createIngest } from './ingest.ts';
import { startLanes } from './jobs/lanes.ts';
import { createEngineMetrics } from './metrics.ts';
import { maintain } from './nodes/maintain.ts';
import { startNodeLease } from './nodes/node-lease.ts';
import { createDbOverlay } from './run/db-overlay.ts';
import { createDispatcher } from './run/dispatcher.ts';
import type { HeldInvocation } from './run/invocation.ts';
import { createInvocationRunner } from './run/invocation-runner.ts';
import { createRunCommitter } from './run/run-committer.ts';
import { type RunContext, runTask } from './run/run-invocation.ts';
import { createSourceRuntimes } from './run/source-runtime.ts';
import type { Sealer } from './secrets/seal.ts';
import { createLifecycle } from './sources/lifecycle.ts';
import { createSources } from './sources/sources.ts';
import type { Database } from './store/database.ts';
import { SOURCE_CHANGED_CHANNEL } from './store/notify-changed.ts';
import { readDbValue } from './store/read-db-value.ts';
import { releaseInvocations } from './store/release-invocations.ts';

export interface EngineParts {
  db: Database;
  databaseUrl: string;
  sealer: Sealer;
}

/** Assembles a node on a migrated database and starts it. What was started is stopped in the opposite order. */
export async function assembleEngine(options: EngineOptions, parts: EngineParts): Promise<Engine> {
  const { log } = options;
  const { db, sealer } = parts;
  const { sql } = db;
  const nowMs = () => Date.now();

  const databasePort = Number(new URL(parts.databaseUrl).port || 5432);
  const egress = createEgress({
    allow: options.egressAllow,
    deniedPorts: () => [databasePort, ...options.listeningPorts()].map((port) => ({ port })),
  });
  const guestFetch = createGuestFetch({ egress });
  const sandbox = await startSandbox({ log });
  const node = await startNodeLease({ sql, role: options.role, log, maintain: () => maintain(sql, log) });
  const deliverer = createDeliverer({
    db,
    nodeId: node.id,
    sealer,
    egress,
    retryPolicy: createRetryPolicy(
      options.retryScheduleSeconds === undefined ? {} : { scheduleSeconds: options.retryScheduleSeconds },
    ),
    log,
  });
  const opener = {
    open: sealer.open,
    seal: sealer.seal,
    endpointUrl: endpointUrls(options),
  };
  const runtimes = createSourceRuntimes(sql, opener);
  const metrics = createEngineMetrics();
  const committer = createRunCommitter({
    sql,
    nodeId: node.id,
    deliverer,
    onCommitted: metrics.runCommitted,
    nowMs,
    log,
  });
  const context: RunContext = {
    sandbox,
    overlay: createDbOverlay(),
    fetch: guestFetch.fetch,
    readDbValue: (sourceId, key) => readDbValue(sql, sourceId, key),
    commit: committer.commit,
    nowMs,
  };
  const release = async (invocations: readonly HeldInvocation[]) => {
    for (const invocation of invocations) {
      invocation.respond?.({ ok: false, message: 'The source cannot run at the moment' });
    }
    const byNode = Map.groupBy(invocations, (invocation) => invocation.leasedBy);
    for (const [nodeId, held] of byNode) {
      await releaseInvocations(
        sql,
        nodeId,
        held.map((invocation) => invocation.id),
      );
    }
  };
  const dispatcher = createDispatcher({
    run: createInvocationRunner({ ...context, runtimes, release }),
    release,
    log,
  });
  const ingest = createIngest({ sql, node, dispatcher });
  const forget = (sourceId: string) => {
    runtimes.forget(sourceId);
    ingest.forgetSource(sourceId);
  };
  const forgetAll = () => {
    runtimes.forgetAll();
    ingest.forgetAll();
  };
  // On every (re)connection of the listener as well: changes may have been missed while it was away.
  const listener = await sql.listen(SOURCE_CHANGED_CHANNEL, forget, forgetAll);
  const components = createComponents({
    db,
    sandbox,
    bundle: bundleComponent,
    fetch: guestFetch.fetch,
  });
  const lifecycle = createLifecycle({
    db,
    components,
    opener,
    runTask: (task) => runTask(context, task),
    forget,
    log,
  });
  const lanes =
    options.role === 'api'
      ? undefined
      : await startLanes({ databaseUrl: parts.databaseUrl, sql, node, dispatcher, deliverer, nowMs, log });
  metrics.watch({ dispatcher, deliverer, sandbox });

  let stopping: Promise<void> | undefined;
  async function stopAll(): Promise<void> {
    await lanes?.stop();
    await dispatcher.stop();
    await committer.drain();
    await deliverer.stop();
    await sandbox.stop();
    await guestFetch.stop();
    await listener.unlisten();
    await node.stop();
  }

  return {
    accounts: createAccounts({ db }),
    components,
    sources: createSources({ db, opener, lifecycle }),
    webhooks: createWebhooks({ db, sealer }),
    subscriptions: createSubscriptions({ db }),
    ingest,
    async ready() {
      if (stopping !== undefined) return false;
      const answered = await sql`select 1`.then(
        () => true,
        () => false,
      );
      return answered;
    },
    metrics: metrics.text,
    stop() {
      stopping ??= stopAll();
      return stopping;
    },
  };
}
