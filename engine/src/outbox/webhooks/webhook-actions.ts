import { HeadwaterError, LIMITS, notFound } from '@headwater/shared';
import { createBoundedTurns } from '../../fairness/index.ts';
import type { Webhooks } from '../../contract/index.ts';
import type { Sealer } from '../../secrets/index.ts';
import { type Database, decodeCursor, encodeCursor, notifyWebhookChanged } from '../../db/index.ts';
import { retryPending } from '../deliveries/retry-pending.sql.ts';
import { takeBackPutOff } from './put-off-webhooks.sql.ts';
import { rotateWebhookSecret } from './rotate-webhook-secret.sql.ts';
import type { EndDeliveries } from '../deliveries/end-deliveries.ts';
import { readGivenFilter } from '../subscriptions/given-filter.ts';
import { createSecret } from '../transports/webhook/sign.ts';
import { type AttemptOnce, testDelivery } from './test-delivery.ts';
import { validateWebhook } from './validate-webhook.ts';
import { findWebhook, webhookRecordOf } from './webhook-record.ts';

/** Tests of one account under way at once; each may take as long as a delivery. */
const TESTS_AT_ONCE = 4;

export interface WebhookActionsOptions {
  db: Database;
  sealer: Sealer;
  giveBack: (webhookId: string) => Promise<void>;
  end: EndDeliveries;
  /** Default: this node delivers nothing, and no test. */
  attemptOnce?: AttemptOnce;
}

/** Retries at once, discards, rotation of the secret, and tests. */
export function createWebhookActions(
  options: WebhookActionsOptions,
): Pick<Webhooks, 'retryNow' | 'discard' | 'rotateSecret' | 'test'> {
  const { db, sealer, giveBack, end, attemptOnce = () => Promise.resolve({ kind: 'cut-off' }) } = options;
  const tests = createBoundedTurns('maxWebhookTestsPerTenant', 'tests of webhooks', TESTS_AT_ONCE);
  return {
    async retryNow(who, id, { ids, filter: json, after }) {
      const filter = readGivenFilter(json) ?? undefined;
      const place = decodeCursor('after', after);
      const { active } = await findWebhook(db, who, id);
      if (active) {
        await takeBackPutOff(db.sql, who.accountId, id);
        // Each node forgets that it fails: its deliveries come before those of others that fail.
        await notifyWebhookChanged(db.orm, id);
        const retried = await retryPending(db.sql, who.accountId, id, { ids, filter, after: place });
        const endCursor = retried.end && encodeCursor(retried.end);
        return { count: retried.count, ...(endCursor === undefined ? {} : { endCursor }) };
      }
      throw new HeadwaterError('CONFLICT', `Webhook ${id} is stopped; set active to true to deliver to it`);
    },
    async discard(who, id) {
      return end(who, id, 'It was discarded', async () => {
        await findWebhook(db, who, id);
        // Other nodes give back what they have not begun.
        await notifyWebhookChanged(db.orm, id);
      });
    },
    async rotateSecret(who, id, { secret, signature, overlapHours = LIMITS.defaultSecretOverlapHours }) {
      validateWebhook(secret === undefined ? {} : { secret, ...(signature && { signature }) });
      const scheme = signature ?? webhookRecordOf(sealer, await findWebhook(db, who, id)).signature;
      const sealed = sealer.seal(who.accountId, secret ?? createSecret(scheme));
      const row = await rotateWebhookSecret(db, { accountId: who.accountId, id, secret: sealed, overlapHours });
      if (row === undefined) throw notFound('webhook', id);
      await giveBack(id);
      return webhookRecordOf(sealer, row);
    },
    async test(who, id, test) {
      const row = await findWebhook(db, who, id);
      return tests.run(who.accountId, () => testDelivery({ sql: db.sql, attemptOnce }, row, test));
    },
  };
}
