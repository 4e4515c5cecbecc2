import type { RequestOptions, WebhookFormat } from '../../contract/index.ts';
import type { ReceiverSettings } from './receiver-settings.ts';
import type { Sql, Transaction } from '../../db/index.ts';

/** Null where the row is of no webhook. */
export interface ReceiverRow {
  url: string | null;
  secret: string;
  format: WebhookFormat;
  previous_secret: string | null;
  previous_until_ms: number | null;
  request_headers: string | null;
  retry_schedule_seconds: number[] | null;
  timeout_seconds: number | null;
  is_failing: boolean;
  is_governed: boolean;
  is_adaptive: boolean;
  /** Null if the webhook is not ordered. */
  ordering: { key: string | null } | null;
  wakes_lane: boolean;
  request_options: RequestOptions | null;
  request_auth: string | null;
  client_key: string | null;
  transform_id: string | null;
}

export interface Receiver {
  sealedSecret: string;
  format: WebhookFormat;
  settings?: ReceiverSettings;
}

/**
 * The receiver has asked for a pause. While the webhook drains, `paced_until` is the pace of the
 * drain instead.
 */
const isPutOff = (sql: Sql | Transaction) => sql`coalesce(w.drain_before is null and w.paced_until > now(), false)`;

/** Whether no delivery of the webhook `w` is sent but through its lane. */
const isGoverned = (sql: Sql | Transaction) =>
  sql`(w.ordering = 'fifo' or w.rate_per_second is not null or w.max_in_flight is not null
    or w.adaptive_rate is not null or ${isPutOff(sql)})`;

/** Whether the deliveries of the webhook `w` that wait are claimed by `claimGoverned`. */
export const goesThroughLane = (sql: Sql | Transaction) => sql`(w.drain_before is not null or ${isGoverned(sql)})`;

/** Whether nothing but its order holds the deliveries of the webhook `w` back. */
export const isOrderedAlone = (sql: Sql | Transaction) => sql`(
  w.active and w.ordering = 'fifo' and w.rate_per_second is null and w.max_in_flight is null
  and w.adaptive_rate is null and w.drain_before is null and not ${isPutOff(sql)})`;

/** All that an attempt needs to know of the webhook `w`. */
export const receiverColumns = (sql: Sql | Transaction) => sql`
  w.url, w.secret, w.format, w.previous_secret,
  (extract(epoch from w.previous_secret_until) * 1000)::float8 as previous_until_ms,
  w.request_headers, w.retry_schedule_seconds, w.timeout_seconds, w.failing_since is not null as is_failing,
  ${isGoverned(sql)} as is_governed, w.adaptive_rate is not null as is_adaptive,
  w.ordering = 'fifo' or w.max_in_flight is not null as wakes_lane,
  case when w.ordering = 'fifo' then json_build_object('key', w.ordering_key) end as ordering,
  w.request_options, w.request_auth, w.client_key, w.transform_id`;

export function receiverOf(row: ReceiverRow): Receiver {
  const settings: ReceiverSettings = {
    ...(row.previous_secret === null || row.previous_until_ms === null
      ? {}
      : { previousSecret: { sealed: row.previous_secret, untilMs: row.previous_until_ms } }),
    ...(row.request_headers === null ? {} : { sealedHeaders: row.request_headers }),
    ...(row.retry_schedule_seconds === null ? {} : { retryScheduleSeconds: row.retry_schedule_seconds }),
    ...(row.is_failing ? { isFailing: true } : {}),
    ...(row.is_governed ? { isGoverned: true } : {}),
    ...(row.is_adaptive ? { isAdaptive: true } : {}),
    ...(row.wakes_lane ? { wakesLane: true } : {}),
    ...(row.ordering === null ? {} : { ordering: row.ordering }),
    ...(row.timeout_seconds === null ? {} : { timeoutMs: row.timeout_seconds * 1_000 }),
    ...(row.request_options === null ? {} : { options: row.request_options }),
    ...(row.request_auth === null ? {} : { sealedAuth: row.request_auth }),
    ...(row.client_key === null ? {} : { sealedClientKey: row.client_key }),
    ...(row.transform_id === null ? {} : { transformId: row.transform_id }),
  };
  const { secret: sealedSecret, format } = row;
  return { sealedSecret, format, ...(Object.keys(settings).length === 0 ? {} : { settings }) };
}
