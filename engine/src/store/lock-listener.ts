import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import { ID_PREFIXES } from '@headwater/shared';
import type { OrmTransaction } from './database.ts';
import { sources, webhooks } from './schema.ts';

/** Keeps a webhook or source of the account from being deleted until the transaction ends. False: there is none. */
export function lockListener(tx: OrmTransaction, accountId: string, id: string): Promise<boolean> {
  return id.startsWith(ID_PREFIXES.source) ? lockSource(tx, accountId, id) : lockWebhook(tx, accountId, id);
}

/** The same for a source alone. One whose deployment has not ended is none yet. */
export async function lockSource(tx: OrmTransaction, accountId: string, id: string): Promise<boolean> {
  const rows = await tx
    .select({ id: sources.id })
    .from(sources)
    .where(
      and(
        eq(sources.accountId, accountId),
        eq(sources.id, id),
        isNull(sources.deletedAt),
        isNotNull(sources.deployedAt),
      ),
    )
    .for('share');
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
