import { LIMITS } from '@headwater/shared';
import type { AccountRoom } from '../../accounts/index.ts';
import { createBoundedTurns } from '../../fairness/index.ts';
import type { Principal } from '../../contract/index.ts';
import { cancelDeliveries, countWaiting } from './cancel-deliveries.sql.ts';
import { addJobs, type Database } from '../../db/index.ts';
import { backlogJob } from './webhook-backlog.ts';

export interface EndOptions {
  db: Database;
  room: AccountRoom;
  /** See Deliverer. */
  giveBack: (webhookId: string) => Promise<void>;
}

/** A client waits no longer. Hundreds of thousands of deliveries are left to a job. */
const REQUEST_MS = 10_000;

/**
 * Makes the change, then cancels the webhook's pending deliveries for `reason`. Returns how many
 * are cancelled, those included that are left to a job.
 */
export type EndDeliveries = (
  who: Principal,
  id: string,
  reason: string,
  change: () => Promise<unknown>,
) => Promise<number>;

/**
 * At once nothing more begins on this node, however much is pending: it is cancelled piece by
 * piece, for one webhook of the account at a time.
 */
export function createEnd({ db, room, giveBack }: EndOptions): EndDeliveries {
  const most = LIMITS.maxDeletionsPerTenant;
  const turns = createBoundedTurns('maxDeletionsPerTenant', 'deletions and discards of webhooks', most);
  return ({ accountId }, id, reason, change) => {
    const inTurn = <R>(work: () => Promise<R>) => room.make(accountId, work);
    return turns.run(accountId, async () => {
      await inTurn(change);
      const givenBack = giveBack(id);
      const cancellation = { accountId, webhookId: id, reason };
      const { count, until } = await cancelDeliveries(db.sql, { ...cancellation, maxMs: REQUEST_MS }, inTurn);
      await givenBack;
      if (until === undefined) return count;
      const rest = await countWaiting(db.sql, id);
      await addJobs(db.sql, [backlogJob({ ...cancellation, act: 'cancel', until })]);
      return count + rest;
    });
  };
}
