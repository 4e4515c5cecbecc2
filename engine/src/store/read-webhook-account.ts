import type { Sql } from './database.ts';

/** Whose webhook it is; undefined where it is gone. */
export async function readWebhookAccount(sql: Sql, webhookId: string): Promise<string | undefined> {
  const [row] = await sql<{ account_id: string }[]>`select account_id from webhooks where id = ${webhookId}`;
  return row?.account_id;
}
