import { HeadwaterError, LIMITS, notFound } from '@headwater/shared';
import { createBoundedTurns } from '../bounded-turns.ts';
import type { Webhooks } from '../contract.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { Database } from '../store/database.ts';
import { retryPending } from '../store/retry-pending.ts';
import { rotateWebhookSecret } from '../store/rotate-webhook-secret.ts';
import { createSecret } from './sign.ts';
import { type AttemptOnce, testDelivery } from './test-delivery.ts';
import { validateWebhook } from './validate-webhook.ts';
import { findWebhook, webhookRecordOf } from './webhook-record.ts';

/** Tests of one account under way at once; each may take as long as a delivery. */
const TESTS_AT_ONCE = 4;

export interface WebhookActionsOptions {
  db: Database;
  sealer: Sealer;
  giveBack: (webhookId: string) => Promise<void>;
  /** Default: this node delivers nothing, and no test. */
  attemptOnce?: AttemptOnce;
}

/** Retries at once, rotation of the secret, and tests. */
export function createWebhookActions(
  options: WebhookActionsOptions,
): Pick<Webhooks, 'retryNow' | 'rotateSecret' | 'test'> {
  const { db, sealer, giveBack, attemptOnce = () => Promise.resolve({ kind: 'cut-off' }) } = options;
  const tests = createBoundedTurns('maxWebhookTestsPerTenant', 'tests of webhooks', TESTS_AT_ONCE);
  return {
    async retryNow(who, id, { ids }) {
      const { active } = await findWebhook(db, who, id);
      if (active) return retryPending(db.sql, who.accountId, id, ids);
      throw new HeadwaterError('CONFLICT', `Webhook ${id} is stopped; set active to true to deliver to it`);
    },
    async rotateSecret(who, id, { secret, overlapHours = LIMITS.defaultSecretOverlapHours }) {
      validateWebhook(secret === undefined ? {} : { secret });
      const sealed = sealer.seal(who.accountId, secret ?? createSecret());
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
