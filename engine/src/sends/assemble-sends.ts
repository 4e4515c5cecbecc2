import type { Presence } from '@headwater/shared';
import type { LimitsCache } from '../accounts/limits-cache.ts';
import type { Sends } from '../contract-sends.ts';
import type { RetryPolicy } from '../delivery/retry-policy.ts';
import type { Egress } from '../egress/egress.ts';
import type { GuestFetch } from '../egress/guest-fetch.ts';
import type { Log } from '../log.ts';
import type { EngineMetrics } from '../metrics.ts';
import type { NodeLease } from '../nodes/node-lease.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { Sql } from '../store/database.ts';
import type { HistoryCount } from '../store/history-row-bytes.ts';
import { createMailer, type MailOptions } from './mailer.ts';
import { createSendRunner, type SendRunner } from './send-runner.ts';
import { createSends } from './sends.ts';

export interface SendParts {
  sql: Sql;
  node: Pick<NodeLease, 'id'>;
  sealer: Sealer;
  egress: Egress;
  guestFetch: Pick<GuestFetch, 'fetch'>;
  retryPolicy: RetryPolicy;
  limits: Pick<LimitsCache, 'get'>;
  metrics?: Pick<EngineMetrics, 'sendAttempted'>;
  history?: HistoryCount;
  presence: Presence;
}

/** Everything that becomes of `$.send.http`, `.email` and `.s3`. */
export function assembleSends(
  { node, guestFetch, metrics, ...parts }: SendParts,
  { mail, log, drainMs }: { mail?: MailOptions | undefined; log: Log; drainMs?: number },
): { sends: Sends; sendRunner: SendRunner } {
  const sendRunner = createSendRunner({
    ...parts,
    log,
    nodeId: node.id,
    fetch: guestFetch.fetch,
    mailer: createMailer({ mail, log }),
    ...(metrics === undefined ? {} : { onAttempt: metrics.sendAttempted }),
    ...(drainMs === undefined ? {} : { drainMs }),
  });
  return { sends: createSends(parts), sendRunner };
}
