import type { ActiveTenants } from '@headwater/shared';
import type { LimitsCache } from '../accounts/limits-cache.ts';
import type { Sends } from '../contract/sends.ts';
import type { RetryPolicy } from '../outbox/retry-policy.ts';
import type { Egress } from '../egress/egress.ts';
import type { GuestFetch } from '../egress/guest-fetch.ts';
import type { Log } from '../contract/log.ts';
import type { EngineMetrics } from '../observe/metrics.ts';
import type { NodeLease } from '../cluster/node-lease.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { Sql } from '../db/database.ts';
import type { Watchdog } from '../db/watchdog.ts';
import type { UseCount } from '../events/stat-meter.ts';
import type { HistoryCount } from '../accounts/history-row-bytes.ts';
import { createMailer, type Mailer, type MailOptions } from '../outbox/transports/email/mailer.ts';
import { createSendRunner, type SendRunner } from '../outbox/sends/send-runner.ts';
import { createSends } from '../outbox/sends/sends.ts';

export interface SendParts {
  sql: Sql;
  node: Pick<NodeLease, 'id'>;
  sealer: Sealer;
  egress: Egress;
  guestFetch: Pick<GuestFetch, 'fetch'>;
  retryPolicy: RetryPolicy;
  limits: Pick<LimitsCache, 'get' | 'isSuspended'>;
  metrics?: Pick<EngineMetrics, 'sendAttempted'>;
  history?: HistoryCount;
  use?: UseCount;
  /** Default: nobody is told what cannot be recorded. */
  watchdog?: Pick<Watchdog, 'tell'>;
  activeTenants: ActiveTenants;
}

/** Everything that becomes of `$.send.http`, `.email` and `.s3`. */
export function assembleSends(
  { node, guestFetch, metrics, watchdog, ...parts }: SendParts,
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
    ...(metrics === undefined ? {} : { onAttempt: metrics.sendAttempted }),
    ...(drainMs === undefined ? {} : { drainMs }),
  });
  return { sends: createSends(parts), sendRunner, mailer };
}
