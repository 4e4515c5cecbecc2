import type { AccountLimits } from '@headwater/shared';
import type { RequestOptions } from '../../contract/index.ts';
import type { Sql } from '../../db/index.ts';
import { requireRoom } from '../../accounts/index.ts';

export interface NewWebhook {
  id: string;
  accountId: string;
  userId: string;
  url: string;
  name: string | null;
  description: string | null;
  format: string;
  /** Sealed already. */
  secret: string;
  requestHeaders: string | null;
  retryScheduleSeconds: number[] | null;
  timeoutSeconds: number | null;
  disableAfterHours: number | null;
  disableFailuresOverHours: number | null;
  ordering: string;
  orderingKey: string | null;
  ratePerSecond: number | null;
  maxInFlight: number | null;
  adaptiveRate: boolean;
  requestOptions: RequestOptions;
  /** Sealed already, both. */
  requestAuth: string | null;
  clientKey: string | null;
  transformId: string | null;
}

/** Throws CONFLICT where the account has as many as it may have. */
export async function createWebhook(
  sql: Sql,
  webhook: NewWebhook,
  limits: Pick<AccountLimits, 'maxWebhooks'>,
): Promise<void> {
  const { id, accountId, userId, url, name, description, format, secret } = webhook;
  const { requestHeaders, retryScheduleSeconds, timeoutSeconds, disableAfterHours, disableFailuresOverHours } = webhook;
  const { ordering, orderingKey, ratePerSecond, maxInFlight, adaptiveRate } = webhook;
  const { requestAuth, clientKey, transformId } = webhook;
  const options = Object.keys(webhook.requestOptions).length === 0 ? null : JSON.stringify(webhook.requestOptions);
  await sql.begin(async (tx) => {
    await requireRoom(tx, accountId, limits, 'maxWebhooks');
    await tx`
      insert into webhooks (id, account_id, user_id, url, name, description, format, secret, request_headers,
        retry_schedule_seconds, timeout_seconds, disable_after_hours, disable_failures_over_hours, ordering, ordering_key, rate_per_second, max_in_flight,
        adaptive_rate, request_options, request_auth, client_key, transform_id)
      values (${id}, ${accountId}, ${userId}, ${url}, ${name}, ${description}, ${format}, ${secret}, ${requestHeaders},
        ${retryScheduleSeconds}::int4[], ${timeoutSeconds}::int4, ${disableAfterHours}::int4,
        ${disableFailuresOverHours}::int4, ${ordering}, ${orderingKey},
        ${ratePerSecond}::int4, ${maxInFlight}::int4,
        ${adaptiveRate ? '{}' : null}::text::jsonb, ${options}::text::jsonb, ${requestAuth}, ${clientKey}, ${transformId})`;
  });
}
