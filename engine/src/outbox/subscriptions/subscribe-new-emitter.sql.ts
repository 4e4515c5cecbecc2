import { type AccountLimits, newId } from '@headwater/shared';
import type { Transaction } from '../../db/index.ts';
import { requireRoom } from '../../accounts/index.ts';

/**
 * Gives a new emitter the account's auto subscriptions. Their rows are locked: a deletion of the
 * listener deletes them before its subscriptions, and so waits until the new ones exist. Throws
 * CONFLICT if the account would exceed maxSubscriptions.
 */
export async function subscribeNewEmitter(
  tx: Transaction,
  accountId: string,
  emitterId: string,
  limits: Pick<AccountLimits, 'maxSubscriptions'>,
): Promise<void> {
  const rows = await tx<{ listener_id: string; event_name: string; filter: string | null }[]>`
    select listener_id, event_name, filter from auto_subscriptions where account_id = ${accountId} order by id for share`;
  if (rows.length === 0) return;
  await requireRoom(tx, accountId, limits, 'maxSubscriptions', rows.length);
  await tx`
    insert into subscriptions (id, account_id, emitter_id, listener_id, event_name, filter)
    select id, ${accountId}, ${emitterId}, listener_id, event_name, filter from unnest(
      ${rows.map(() => newId('subscription'))}::text[], ${rows.map((row) => row.listener_id)}::text[],
      ${rows.map((row) => row.event_name)}::text[], ${rows.map((row) => row.filter)}::text[]
    ) as s(id, listener_id, event_name, filter)`;
}
