import { ID_PREFIXES } from '@headwater/shared';
import type { Sql, Transaction } from '../../db/index.ts';

export const isWebhook = (id: string): boolean => id.startsWith(ID_PREFIXES.webhook);

/**
 * Locks a webhook, source or workflow of the account against deletion until the transaction ends.
 * False if it does not exist.
 */
export function lockListener(tx: Transaction, accountId: string, id: string): Promise<boolean> {
  return isWebhook(id) ? lockWebhook(tx, accountId, id) : lockEmitter(tx, accountId, id);
}

/**
 * As lockListener, for a source or workflow only. A source whose deployment has not ended does not
 * count.
 */
export async function lockEmitter(tx: Transaction, accountId: string, id: string): Promise<boolean> {
  const rows = await tx`
    select from emitters
    where account_id = ${accountId} and id = ${id} and deleted_at is null and deployed_at is not null for share`;
  return rows.length > 0;
}

async function lockWebhook(tx: Transaction, accountId: string, id: string): Promise<boolean> {
  const rows = await tx`select from webhooks where account_id = ${accountId} and id = ${id} for key share`;
  return rows.length > 0;
}

/** Undefined: the account has no such webhook, source or workflow. */
export async function isListenerActive(
  sql: Sql | Transaction,
  accountId: string,
  id: string,
): Promise<boolean | undefined> {
  const [row] = isWebhook(id)
    ? await sql<{ active: boolean }[]>`select active from webhooks where account_id = ${accountId} and id = ${id}`
    : await sql<{ active: boolean }[]>`
        select active from emitters
        where account_id = ${accountId} and id = ${id} and deleted_at is null and deployed_at is not null`;
  return row?.active;
}
