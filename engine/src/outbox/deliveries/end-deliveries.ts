import { LIMITS } from '@headwater/shared';
import type { AccountRoom } from '../../accounts/index.ts';
import { createBoundedTurns } from '../../fairness/index.ts';
import type { Principal } from '../../contract/index.ts';
import { cancelDeliveries } from './cancel-deliveries.sql.ts';
import type { Database } from '../../db/index.ts';

export interface EndOptions {
  db: Database;
  room: AccountRoom;
  /** See Deliverer. */
  giveBack: (webhookId: string) => Promise<void>;
}

/**
 * Makes the change, then cancels the webhook's pending deliveries for `reason`. Returns the number
 * cancelled.
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
      const count = await cancelDeliveries(db.sql, { accountId, webhookId: id, reason }, inTurn);
      await givenBack;
      return count;
    });
  };
}
