import { LIMITS } from '@headwater/shared';
import { addJobs } from '../../db/jobs/add-jobs.ts';
import { claimOfAccount, readDueWebhooks } from './claim-of-account.sql.ts';
import type { Sql } from '../../db/database.ts';
import { accountLane } from './deliver-lane.ts';
import type { DueDelivery } from './due-delivery.ts';

export interface AccountLanesOptions {
  sql: Sql;
  nodeId: () => string;
  /** How many more deliveries this node should lease of the account, or of one of its webhooks. */
  capacity: (of: { accountId: string; webhookId?: string }) => number;
  nowMs?: () => number;
}

/**
 * Deliveries that wait in the database, of all webhooks of an account together: its retries, and
 * what its webhooks had no room for. One job and one claim serve a thousand dead receivers as well
 * as one; a lane for each would be queued again and again for an account that has no room.
 */
export interface AccountLanes {
  /**
   * One turn: leases a bounded batch of due deliveries, with the same share for each webhook. A job
   * covers the rest. Undefined if the node has no room.
   */
  claim(accountId: string, room: number): Promise<DueDelivery[]>;
  /** A lane of the account found no room here: all of them come back with one job. */
  postpone(accountId: string): Promise<void>;
}

const MAX_REMEMBERED = 10_000;

export function createAccountLanes({ sql, nodeId, capacity, nowMs = Date.now }: AccountLanesOptions): AccountLanes {
  /** By account, the webhook up to which the last turn looked, where more come after it. */
  const looked = new Map<string, string>();

  const comeBack = (accountId: string) => accountLane(accountId, nowMs() + LIMITS.deliveryLaneRetryMs);

  function remember(accountId: string, last: string | undefined): void {
    looked.delete(accountId);
    if (last === undefined || last === '') return;
    // A turn that begins anew costs nothing but time.
    if (looked.size >= MAX_REMEMBERED) looked.clear();
    looked.set(accountId, last);
  }

  return {
    async claim(accountId, room) {
      const after = looked.get(accountId) ?? '';
      const { free, last } = await readDueWebhooks(sql, accountId, after);
      const roomOf = (webhookId: string) => capacity({ accountId, webhookId });
      const { lanes, isAllServed, isRoomLeft } = shareOut(free, room, roomOf);
      remember(accountId, isRoomLeft ? after : last);
      const later = comeBack(accountId);
      const goesOn = isRoomLeft || last !== undefined;
      // Webhooks before `after` may have found no room in a turn before.
      const isOver = isAllServed && after === '';
      const otherwise = goesOn ? accountLane(accountId) : isOver ? undefined : later;
      if (lanes.length > 0) return claimOfAccount(sql, nodeId(), { accountId, lanes, otherwise, later });
      if (otherwise !== undefined) await addJobs(sql, [otherwise]);
      return [];
    },
    postpone: (accountId) => addJobs(sql, [comeBack(accountId)]),
  };
}

interface Shares {
  lanes: { webhookId: string; most: number }[];
  /** Each webhook has a part. */
  isAllServed: boolean;
  /** A webhook without a part has room: there were too many for one turn. */
  isRoomLeft: boolean;
}

/**
 * The same share for each webhook, at least one. If there are too many webhooks, a random choice of
 * them gets one.
 */
function shareOut(webhookIds: readonly string[], room: number, roomOf: (webhookId: string) => number): Shares {
  const share = Math.max(1, Math.floor(room / Math.max(1, webhookIds.length)));
  const lanes: { webhookId: string; most: number }[] = [];
  let left = room;
  let isAllServed = true;
  for (const webhookId of inRandomOrder(webhookIds)) {
    if (left === 0) return { lanes, isAllServed: false, isRoomLeft: true };
    const most = Math.min(share, left, roomOf(webhookId));
    if (most > 0) lanes.push({ webhookId, most });
    else isAllServed = false;
    left -= most;
  }
  return { lanes, isAllServed, isRoomLeft: false };
}

function inRandomOrder(ids: readonly string[]): string[] {
  return ids
    .map((id) => ({ id, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ id }) => id);
}
