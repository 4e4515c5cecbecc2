import { HeadwaterError, notFound } from '@headwater/shared';
import type { MatchingChoice, RedeliveryChoice, WebhookRecord } from '../../contract/index.ts';
import { type Database, decodeCursor, encodeCursor } from '../../db/index.ts';
import { readGivenFilter } from '../subscriptions/given-filter.ts';
import { readDeliveries } from './read-deliveries.sql.ts';
import { redeliverMatching } from './redeliver-matching.sql.ts';
import { redeliverFailed, redeliverOne } from './redeliver.sql.ts';

/** See Webhooks.redeliver. */
export async function redeliverEnded(
  db: Database,
  accountId: string,
  { id, active }: Pick<WebhookRecord, 'id' | 'active'>,
  what: string | RedeliveryChoice = {},
): Promise<number> {
  requireActive(id, active);
  if (typeof what !== 'string') return redeliverFailed(db.sql, accountId, id, what);
  const count = await redeliverOne(db.sql, accountId, id, what);
  if (count > 0) return count;
  const [delivery] = await readDeliveries(db, accountId, [id], [what]);
  if (delivery === undefined) throw notFound('delivery', what);
  const isUnderWay = delivery.status === 'pending' || delivery.status === 'sending';
  const reason = isUnderWay ? 'has not ended yet' : 'is of an event that was deleted';
  throw new HeadwaterError('CONFLICT', `Delivery ${what} ${reason}`);
}

/** See Webhooks.redeliverMatching. */
export async function redeliverChosen(
  db: Database,
  accountId: string,
  { id, active }: Pick<WebhookRecord, 'id' | 'active'>,
  choice: MatchingChoice,
): Promise<{ count: number; endCursor?: string }> {
  const { ids, statuses = ['failed'], errorClasses, since, until, isDryRun = false } = choice;
  const filter = readGivenFilter(choice.filter) ?? undefined;
  const after = decodeCursor('after', choice.after)?.id;
  if (!isDryRun) requireActive(id, active);
  const these = { ids, statuses, errorClasses, since, until, filter, after, isDryRun };
  const { count, end } = await redeliverMatching(db.sql, { accountId, webhookId: id, ...these });
  return { count, ...(end === undefined ? {} : { endCursor: encodeCursor({ id: end, micros: 0 }) }) };
}

function requireActive(id: string, active: boolean): void {
  if (!active) throw new HeadwaterError('CONFLICT', `Webhook ${id} is stopped; set active to true to deliver to it`);
}
