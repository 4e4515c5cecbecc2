import type { Database, Sql, Transaction } from './database.ts';
import { sql } from './drizzle.ts';

/**
 * Channel on which nodes tell each other which cached source is out of date; the payload is the
 * source's id.
 */
export const SOURCE_CHANGED_CHANNEL = 'headwater_source_changed';

/** Sent with the transaction's commit. */
export async function notifySourceChanged(tx: Sql | Transaction, sourceId: string): Promise<void> {
  await tx`select pg_notify(${SOURCE_CHANGED_CHANNEL}, ${sourceId})`;
}

/** As above, for the credentials and the state of a connected account; the payload is its id. */
export const CONNECTED_ACCOUNT_CHANGED_CHANNEL = 'headwater_connected_account_changed';

/** Sent with the transaction's commit. */
export async function notifyConnectedAccountChanged(tx: Sql | Transaction, id: string): Promise<void> {
  await tx`select pg_notify(${CONNECTED_ACCOUNT_CHANGED_CHANNEL}, ${id})`;
}

/** As above, for the settings of an account; the payload is the account's id. */
export const ACCOUNT_CHANGED_CHANNEL = 'headwater_account_changed';

/** Sent with the transaction's commit. */
export async function notifyAccountChanged(tx: Sql | Transaction, accountId: string): Promise<void> {
  await tx`select pg_notify(${ACCOUNT_CHANGED_CHANNEL}, ${accountId})`;
}

/** As above, for the environment variables of an account; the payload is the account's id. */
export const ENVIRONMENT_CHANGED_CHANNEL = 'headwater_environment_changed';

/** Sent with the transaction's commit. */
export async function notifyEnvironmentChanged(tx: Sql | Transaction, accountId: string): Promise<void> {
  await tx`select pg_notify(${ENVIRONMENT_CHANGED_CHANNEL}, ${accountId})`;
}

/** As above, for where a webhook leads, and whether it does; the payload is its id. */
export const WEBHOOK_CHANGED_CHANNEL = 'headwater_webhook_changed';

/** Sent with the transaction's commit. */
export async function notifyWebhookChanged(tx: Pick<Database['orm'], 'execute'>, webhookId: string): Promise<void> {
  await tx.execute(sql`select pg_notify(${WEBHOOK_CHANGED_CHANNEL}, ${webhookId})`);
}

/** As above, for where a node listens; without a payload. */
export const NODE_LISTENS_CHANNEL = 'headwater_node_listens';

/** Sent with the transaction's commit. */
export async function notifyNodeListens(tx: Sql | Transaction): Promise<void> {
  await tx`select pg_notify(${NODE_LISTENS_CHANNEL}, '')`;
}
