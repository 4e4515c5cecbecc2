import type { EngineOptions, Sends } from '../contract/index.ts';
import {
  createDeliverer,
  createRetryPolicy,
  createSampleReceiver,
  createSubscriptions,
  createTunnelInbox,
  createTunnels,
  createWebhooks,
  type Deliverer,
  type DelivererOptions,
  joinInboxes,
  type Mailer,
  type RunTransform,
  type SendRunner,
  type TunnelInbox,
} from '../outbox/index.ts';
import { createTransforms, createTransformsOfWebhooks } from '../transforms/index.ts';
import { spanIdOf, spanOfAttempt, type TraceContexts } from '../tracing/index.ts';
import type { Code } from './assemble-code.ts';
import { assembleSends } from './assemble-sends.ts';
import type { Ground } from './ground.ts';
import { retryOptionsOf } from './parts-from-options.ts';
import type { AccountCounts } from './start-account-counts.ts';

/** Everything that leaves the node: deliveries of events, and sends of steps. */
export interface Outbox {
  deliverer: Deliverer;
  sends: Sends;
  sendRunner: SendRunner;
  mailer: Mailer;
  transform: RunTransform;
  sampleReceiver: ReturnType<typeof createSampleReceiver>;
  tunnelInbox: TunnelInbox;
}

export function assembleOutbox(
  options: EngineOptions,
  ground: Ground,
  { history, stats }: Pick<AccountCounts, 'history' | 'stats'>,
): Outbox {
  const { publicUrl, mail } = options;
  const { db, sql, node, sealer, egress, guestFetch, activeTenants, limits, metrics, traces, spans, watchdog, log } =
    ground;
  const retryPolicy = createRetryPolicy(retryOptionsOf(options));
  const sampleReceiver = createSampleReceiver({ sql, sealer, publicUrl, nowMs: Date.now });
  const tunnelInbox = createTunnelInbox(sql, publicUrl);
  const transform = createTransforms({ sandbox: ground.sandbox, holdBundle: ground.holdBundle, limits, log });
  const deliverer = createDeliverer({
    db,
    nodeId: node.id,
    sealer,
    egress,
    retryPolicy,
    inbox: joinInboxes([sampleReceiver, tunnelInbox]),
    transform,
    accountLimits: limits,
    activeTenants,
    history,
    stats,
    traceHeaders: traceHeadersOf(traces),
    onAttempt(outcome, durationMs, result) {
      metrics.attemptEnded(outcome, durationMs);
      spans?.attemptEnded(result);
    },
    onUnrecorded: () => watchdog.tell('attempts of deliveries', 'attempts of deliveries cannot be recorded'),
    log,
  });
  const { sends, sendRunner, mailer } = assembleSends(
    {
      sql,
      node,
      sealer,
      egress,
      guestFetch,
      retryPolicy,
      limits,
      metrics,
      spans,
      history,
      use: stats,
      watchdog,
      activeTenants,
    },
    { mail, log },
  );
  return { deliverer, sends, sendRunner, mailer, transform, sampleReceiver, tunnelInbox };
}

/** The receiver is told of the attempt as the parent of what it does. */
function traceHeadersOf(traces: TraceContexts): NonNullable<DelivererOptions['traceHeaders']> {
  return ({ id, accountId, traceId, attemptCount }) =>
    traceId === undefined || !traces.isWanted(accountId)
      ? undefined
      : traces.headers(accountId, traceId, spanIdOf(...spanOfAttempt(id, attemptCount + 1)));
}

export type Hooks = ReturnType<typeof assembleHooks>;

/** Webhooks, who subscribes them, and those to which a developer listens. */
export function assembleHooks(
  { db, sql, sealer, room, limits, egress, log }: Ground,
  outbox: Outbox,
  { components }: Pick<Code, 'components'>,
) {
  const { deliverer, tunnelInbox, sampleReceiver, transform } = outbox;
  const { giveBack, attemptOnce } = deliverer;
  const own = joinInboxes([sampleReceiver, tunnelInbox]);
  // Deliveries that stay within the node pass by the guard, which refuses the node itself.
  const checkUrl = (url: URL) => (own.isBelow(url.href) ? undefined : egress.checkUrl(url));
  const transforms = createTransformsOfWebhooks({ sql, components, run: transform });
  const webhooks = createWebhooks({ db, sealer, room, giveBack, attemptOnce, checkUrl, transforms });
  const subscriptions = createSubscriptions({ db, room });
  const tunnels = createTunnels({ sql, base: tunnelInbox.base, webhooks, subscriptions, limits, log });
  return { webhooks, subscriptions, tunnels };
}
