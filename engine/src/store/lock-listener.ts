import { and, eq, sql } from './drizzle.ts';
import { ID_PREFIXES } from '@headwater/shared';
import type { OrmTransaction } from './database.ts';
import { webhooks } from './schema.ts';

/** Keeps a webhook, source or workflow of the account from being deleted until the transaction ends. False: there is none. */
export function lockListener(tx: OrmTransaction, accountId: string, id: string): Promise<boolean> {
  return id.startsWith(ID_PREFIXES.webhook) ? lockWebhook(tx, accountId, id) : lockEmitter(tx, accountId, id);
}

/** The same for a source or workflow alone. A source whose deployment has not ended is none yet. */
export async function lockEmitter(tx: OrmTransaction, accountId: string, id: string): Promise<boolean> {
  const rows = await tx.execute(sql`
    select from emitters
    where account_id = ${accountId} and id = ${id} and deleted_at is null and deployed_at is not null for share`);
  return rows.length > 0;
}

async function lockWebhook(tx: OrmTransaction, accountId: string, id: string): Promise<boolean> {
  const rows = await tx
    .select({ id: webhooks.id })
    .from(webhooks)
    .where(and(eq(webhooks.accountId, accountId), eq(webhooks.id, id)))
    .for('key share');
  return rows.length > 0;
}
