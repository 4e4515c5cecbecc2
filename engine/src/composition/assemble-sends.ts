import type { ActiveTenants } from '@headwater/shared';
import type { HistoryCount, LimitsCache } from '../accounts/index.ts';
import type { Log, Sends } from '../contract/index.ts';
import {
  createMailer,
  createSendRunner,
  createSends,
  type Mailer,
  type MailOptions,
  type RetryPolicy,
  type SendRunner,
} from '../outbox/index.ts';
import type { Egress, GuestFetch } from '../egress/index.ts';
import type { EngineMetrics, RunSpans } from '../observe/index.ts';
import type { NodeLease } from '../cluster/index.ts';
import type { Sealer } from '../secrets/index.ts';
import type { Sql, Watchdog } from '../db/index.ts';
import type { UseCount } from '../events/index.ts';

export interface SendParts {
  sql: Sql;
  node: Pick<NodeLease, 'id'>;
  sealer: Sealer;
  egress: Egress;
  guestFetch: Pick<GuestFetch, 'fetch'>;
  retryPolicy: RetryPolicy;
  limits: Pick<LimitsCache, 'get' | 'isSuspended'>;
  metrics?: Pick<EngineMetrics, 'sendAttempted'>;
  /** Default: nothing is traced. */
  spans?: Pick<RunSpans, 'sendAttempted'> | undefined;
  history?: HistoryCount;
  use?: UseCount;
  /** Default: nobody is told what cannot be recorded. */
  watchdog?: Pick<Watchdog, 'tell'>;
  activeTenants: ActiveTenants;
}

/** Everything that becomes of `$.send.http`, `.email` and `.s3`. */
export function assembleSends(
  { node, guestFetch, metrics, spans, watchdog, ...parts }: SendParts,
  { mail, log, drainMs }: { mail?: MailOptions | undefined; log: Log; drainMs?: number },
): { sends: Sends; sendRunner: SendRunner; mailer: Mailer } {
  const mailer = createMailer({ mail, log });
  const sendRunner = createSendRunner({
    ...parts,
    log,
    nodeId: node.id,
    fetch: guestFetch.fetch,
    onUnrecorded: () => watchdog?.tell('attempts of sends', 'attempts of sends cannot be recorded'),
    mailer,
    onAttempt(outcome, result) {
      metrics?.sendAttempted(result.item.kind, outcome);
      spans?.sendAttempted(result);
    },
    ...(drainMs === undefined ? {} : { drainMs }),
  });
  return { sends: createSends(parts), sendRunner, mailer };
}
