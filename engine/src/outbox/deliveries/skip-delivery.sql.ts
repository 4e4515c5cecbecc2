import type { Sql } from '../../db/index.ts';
import { cancelNote } from '../cancel-note.ts';
import { endAndReleaseNext } from './ordered-deliveries.sql.ts';

/** Cancels a delivery that waits. False: it does not. */
export async function skipDelivery(
  sql: Sql,
  { accountId, webhookId, id }: { accountId: string; webhookId: string; id: string },
): Promise<boolean> {
  const note = cancelNote('It was skipped', Date.now());
  const skipped = await sql.begin((tx) =>
    endAndReleaseNext(
      tx,
      { accountId, webhookId },
      () => tx<{ webhookId: string; id: string }[]>`
        update deliveries set status = 'cancelled', attempts = attempts || ${note}::text::jsonb
        where account_id = ${accountId} and webhook_id = ${webhookId} and id = ${id} and status = 'pending'
          and leased_by is null
        returning webhook_id as "webhookId", id`,
    ),
  );
  return skipped > 0;
}
