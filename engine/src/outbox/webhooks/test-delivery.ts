import { HeadwaterError, notFound } from '@headwater/shared';
import type { WebhookTest, WebhookTestResult } from '../../contract/index.ts';
import { isOfRuns, parseEventId } from '../../events/index.ts';
import { findEventOfAccount } from './find-event-of-account.sql.ts';
import type { Sql } from '../../db/index.ts';
import type { WebhookRow } from './read-webhooks.sql.ts';
import { receiverOfWebhook } from './read-webhooks.sql.ts';
import type { AttemptResult } from '../attempt.ts';
import type { AttemptEnd } from '../sender.ts';
import type { DueDelivery } from '../deliveries/due-delivery.ts';
import { messageId } from '../transports/webhook/sign.ts';

/** Makes one attempt of a delivery that is stored nowhere. */
export type AttemptOnce = (delivery: DueDelivery) => Promise<AttemptEnd<AttemptResult<DueDelivery>>>;

/** Stands for the emitter where a test sends no stored event. */
export const TEST_EMITTER = 'test';

/** See Webhooks.test. */
export async function testDelivery(
  { sql, attemptOnce }: { sql: Sql; attemptOnce: AttemptOnce },
  webhook: WebhookRow,
  test: WebhookTest,
): Promise<WebhookTestResult> {
  const delivery = await deliveryOf(sql, webhook, test);
  const end = await attemptOnce(delivery);
  if (end.kind === 'cut-off') {
    throw new HeadwaterError('UNAVAILABLE', 'The server stopped while the test was under way; send it again');
  }
  const { status, attempt } = end.result;
  const { emitterId, indexedAtMs, seq } = delivery;
  return { messageId: messageId(emitterId, indexedAtMs, seq), delivered: status === 'delivered', attempt };
}

async function deliveryOf(sql: Sql, webhook: WebhookRow, test: WebhookTest): Promise<DueDelivery> {
  const { id, accountId, url } = webhook;
  const base = {
    id,
    accountId,
    webhookId: id,
    url,
    ...receiverOfWebhook(webhook),
    attemptCount: 0,
    isTest: true as const,
  };
  if (test.eventId === undefined) {
    const event = test.event ?? { test: true, webhook_id: id, message: 'A test of this webhook, sent by its owner' };
    const data = JSON.stringify(event);
    return { ...base, emitterId: TEST_EMITTER, indexedAtMs: Date.now(), seq: 0, channel: '', data };
  }
  const position = parseEventId(test.eventId);
  const found = position === undefined ? undefined : await findEventOfAccount(sql, accountId, position, test.emitterId);
  if (position === undefined || found === undefined || (test.emittedAlone === true && isOfRuns(found.channel)))
    throw notFound('event', test.eventId);
  const { ts, ...event } = found;
  return { ...base, ...event, ...(ts === null ? {} : { ts }), indexedAtMs: position.ms, seq: position.seq };
}
