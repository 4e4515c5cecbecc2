import { and, type Database, eq, inArray, webhooks } from '../../db/index.ts';
import { type Receiver, receiverOf } from './receiver-columns.sql.ts';

export type WebhookRow = typeof webhooks.$inferSelect;

/** Those of `ids` that are the account's, in no order. */
export async function readWebhooks(db: Database, accountId: string, ids: readonly string[]): Promise<WebhookRow[]> {
  return db.orm
    .select()
    .from(webhooks)
    .where(and(eq(webhooks.accountId, accountId), inArray(webhooks.id, [...ids])));
}

/** As it is read with each delivery. */
export function receiverOfWebhook(row: WebhookRow): Receiver {
  return receiverOf({
    url: row.url,
    secret: row.secret,
    format: row.format,
    previous_secret: row.previousSecret,
    previous_until_ms: row.previousSecretUntil?.getTime() ?? null,
    request_headers: row.requestHeaders,
    retry_schedule_seconds: row.retryScheduleSeconds,
    timeout_seconds: row.timeoutSeconds,
    is_failing: row.failingSince !== null,
    // The rest is no concern of a single attempt.
    is_governed: false,
    is_adaptive: false,
    wakes_lane: false,
    ordering: null,
    request_options: row.requestOptions,
    request_auth: row.requestAuth,
    client_key: row.clientKey,
    transform_id: row.transformId,
  });
}
