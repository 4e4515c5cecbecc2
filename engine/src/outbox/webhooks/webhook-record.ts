import { LIMITS, notFound } from '@headwater/shared';
import type { Principal, WebhookRecord } from '../../contract/index.ts';
import type { Sealer } from '../../secrets/index.ts';
import type { Database } from '../../db/index.ts';
import { readWebhooks, type WebhookRow } from './read-webhooks.sql.ts';
import { publicKeyOf, schemeOf } from '../transports/webhook/sign.ts';
import { shownRequest } from './request-settings.ts';

/** Throws NOT_FOUND for a webhook of another account. */
export async function findWebhook(db: Database, who: Principal, id: string): Promise<WebhookRow> {
  const [row] = id.includes('\0') ? [] : await readWebhooks(db, who.accountId, [id]);
  if (row === undefined) throw notFound('webhook', id);
  return row;
}

/** Headers are stored as the sealed JSON text of their lines, names in lower case; none as null. */
export function sealHeaders(
  sealer: Sealer,
  accountId: string,
  headers: Record<string, string> | undefined,
): string | null {
  const lines = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return lines.length === 0 ? null : sealer.seal(accountId, JSON.stringify(lines));
}

function openHeaders(sealer: Sealer, { accountId, requestHeaders }: WebhookRow): Record<string, string> {
  if (requestHeaders === null) return {};
  return Object.fromEntries(JSON.parse(sealer.open(accountId, requestHeaders)) as [string, string][]);
}

function putOffOf({ pacedUntil, drainBefore, ...row }: WebhookRow): Pick<WebhookRecord, 'putOffUntil'> {
  const isPace = drainBefore !== null || row.ratePerSecond !== null || row.adaptiveRate !== null;
  return isPace || pacedUntil === null || pacedUntil.getTime() <= Date.now() ? {} : { putOffUntil: pacedUntil };
}

function currentRate({ adaptiveRate, ratePerSecond }: WebhookRow): number {
  const ceiling = ratePerSecond ?? LIMITS.adaptiveRatePerSecond;
  return Math.min(ceiling, adaptiveRate?.perSecond ?? ceiling);
}

export function webhookRecordOf(sealer: Sealer, row: WebhookRow): WebhookRecord {
  const secret = sealer.open(row.accountId, row.secret);
  const publicKey = publicKeyOf(secret);
  return {
    id: row.id,
    userId: row.userId,
    ...(row.name === null ? {} : { name: row.name }),
    ...(row.description === null ? {} : { description: row.description }),
    url: row.url,
    format: row.format,
    secret,
    signature: schemeOf(secret),
    ...(publicKey === undefined ? {} : { publicKey }),
    ...(row.previousSecretUntil === null ? {} : { previousUntil: row.previousSecretUntil }),
    headers: openHeaders(sealer, row),
    request: shownRequest(sealer, row),
    ...(row.retryScheduleSeconds === null ? {} : { retryScheduleSeconds: row.retryScheduleSeconds }),
    ...(row.timeoutSeconds === null ? {} : { timeoutSeconds: row.timeoutSeconds }),
    ...(row.disableAfterHours === null ? {} : { disableAfterHours: row.disableAfterHours }),
    ...(row.disableFailuresOverHours === null ? {} : { disableFailuresOverHours: row.disableFailuresOverHours }),
    ...(row.failingSince === null ? {} : { failingSince: row.failingSince }),
    ...(row.disabledAt === null || row.disabledReason === null
      ? {}
      : { disabled: { at: row.disabledAt, reason: row.disabledReason } }),
    ordering: row.ordering,
    ...(row.orderingKey === null ? {} : { orderingKey: row.orderingKey }),
    ...(row.ratePerSecond === null ? {} : { ratePerSecond: row.ratePerSecond }),
    ...(row.maxInFlight === null ? {} : { maxInFlight: row.maxInFlight }),
    adaptiveRate: row.adaptiveRate !== null,
    ...(row.adaptiveRate === null ? {} : { currentRatePerSecond: currentRate(row) }),
    ...(row.transformId === null ? {} : { transformId: row.transformId }),
    active: row.active,
    ...(row.drainBefore === null ? {} : { drainSince: row.drainBefore }),
    ...(row.drainPerSecond === null ? {} : { drainPerSecond: row.drainPerSecond }),
    ...putOffOf(row),
    revision: row.revision,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
