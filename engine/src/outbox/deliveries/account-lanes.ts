import { LIMITS } from '@headwater/shared';
import { addJobs, type Sql } from '../../db/index.ts';
import type { Drain } from '../drain.ts';
import type { ClaimedLane } from './claim-deliveries.sql.ts';
import { claimOfAccount, type DueWebhooks, readDueWebhooks, WEBHOOKS_LOOKED_AT } from './claim-of-account.sql.ts';
import { accountLane } from './deliver-lane.ts';
import type { DueDelivery } from './due-delivery.ts';

export interface AccountLanesOptions {
  sql: Sql;
  nodeId: () => string;
  /** How many more deliveries this node should lease. */
  drain: Pick<Drain<DueDelivery>, 'room' | 'sharedRoom' | 'roomOfFailing'>;
  nowMs?: () => number;
}

/**
 * Deliveries that wait in the database, of all webhooks of an account together: its retries, and
 * what its webhooks had no room for. One job and one claim serve a thousand dead receivers as well
 * as one; a lane for each would be queued again and again for an account that has no room.
 *
 * Webhooks that fail have a part of each turn. A turn looks at no more of them than may fail soon,
 * and the next one goes on with those that come after them.
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

/** How many of the wanted deliveries of a webhook may be leased. Never negative. */
type Grant = (webhookId: string, wanted: number) => number;

/** When the lane has to come back for the rest: undefined if there is none. */
type Rest = 'now' | 'later' | undefined;

interface Part {
  lanes: readonly ClaimedLane[];
  rest: Rest;
}

interface FailingRoom {
  most: number;
  /** Their pace allows less than their share of the turn. */
  isPaced: boolean;
}

const MAX_REMEMBERED = 10_000;
/** Part of a turn that webhooks which fail may have. */
const MAX_FAILING_SHARE = 1 / 4;

export function createAccountLanes({ sql, nodeId, drain, nowMs = Date.now }: AccountLanesOptions): AccountLanes {
  const placeOf = { answering: createPlaces(), failing: createPlaces() };

  const comeBack = (accountId: string) => accountLane(accountId, nowMs() + LIMITS.deliveryLaneRetryMs);

  /** Counts the parts of webhooks that are not trusted together. */
  function grantOf(accountId: string): Grant {
    let shared = 0;
    return (webhookId, wanted) => {
      const most = Math.min(wanted, drain.room({ accountId, laneId: webhookId }));
      const sharedRoom = drain.sharedRoom(webhookId, accountId);
      if (sharedRoom === Number.POSITIVE_INFINITY) return most;
      const granted = Math.max(0, Math.min(most, sharedRoom - shared));
      shared += granted;
      return granted;
    };
  }

  function shareAnswering(accountId: string, { free, last }: DueWebhooks, room: number, grant: Grant): Part {
    const after = placeOf.answering.of(accountId);
    const { lanes, isAllServed, isRoomLeft } = shareOut(free, room, grant);
    placeOf.answering.note(accountId, isRoomLeft ? after : last);
    if (isRoomLeft || last !== undefined) return { lanes, rest: lanes.length > 0 ? 'now' : 'later' };
    // Webhooks before `after` may have found no room in a turn before.
    return { lanes, rest: isAllServed && after === '' ? undefined : 'later' };
  }

  function shareFailing(accountId: string, { free, last }: DueWebhooks, room: FailingRoom, grant: Grant): Part {
    if (room.most === 0) return { lanes: [], rest: 'later' };
    const after = placeOf.failing.of(accountId);
    const { lanes, isAllServed } = shareOut(free, room.most, grant);
    placeOf.failing.note(accountId, last);
    const isOver = last === undefined && isAllServed && after === '';
    if (!room.isPaced) return { lanes, rest: last !== undefined ? 'now' : isOver ? undefined : 'later' };
    // Their pace is used up: a full share of one does not bring the next turn at once.
    const paced = lanes.map((lane) => ({ ...lane, restIsLater: true as const }));
    return { lanes: paced, rest: isOver && lanes.length === 0 ? undefined : 'later' };
  }

  /** A room of less than four has a place for one that fails now and then. */
  function roomOfFailing(accountId: string, room: number): FailingRoom {
    const share = Math.floor(room * MAX_FAILING_SHARE + Math.random());
    const most = Math.max(0, Math.min(share, drain.roomOfFailing(accountId), WEBHOOKS_LOOKED_AT));
    return { most, isPaced: most < share };
  }

  return {
    async claim(accountId, room) {
      const failingRoom = roomOfFailing(accountId, room);
      // More of them could not be served, and each that is looked at costs the database a probe.
      const limit = Math.min(Math.max(1, room - failingRoom.most), WEBHOOKS_LOOKED_AT);
      const { answering, failing } = await readDueWebhooks(sql, accountId, {
        answering: { after: placeOf.answering.of(accountId), limit },
        failing: { after: placeOf.failing.of(accountId), limit: failingRoom.most },
      });
      const grant = grantOf(accountId);
      const doubtful = shareFailing(accountId, failing, failingRoom, grant);
      const taken = doubtful.lanes.reduce((sum, { most }) => sum + most, 0);
      const sure = shareAnswering(accountId, answering, room - taken, grant);
      const lanes = [...sure.lanes, ...doubtful.lanes];
      const later = comeBack(accountId);
      const rests = [sure.rest, doubtful.rest];
      const rest = rests.find((one) => one === 'now') ?? rests.find((one) => one === 'later');
      const otherwise = rest === 'now' ? accountLane(accountId) : rest === 'later' ? later : undefined;
      if (lanes.length > 0) return claimOfAccount(sql, nodeId(), { accountId, lanes, otherwise, later });
      if (otherwise !== undefined) await addJobs(sql, [otherwise]);
      return [];
    },
    postpone: (accountId) => addJobs(sql, [comeBack(accountId)]),
  };
}

/** By account, the webhook up to which the last turn looked, where more come after it. */
function createPlaces() {
  const looked = new Map<string, string>();
  return {
    of: (accountId: string) => looked.get(accountId) ?? '',
    note(accountId: string, last: string | undefined): void {
      looked.delete(accountId);
      if (last === undefined || last === '') return;
      // A turn that begins anew costs nothing but time.
      if (looked.size >= MAX_REMEMBERED) looked.clear();
      looked.set(accountId, last);
    },
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
function shareOut(webhookIds: readonly string[], room: number, grant: Grant): Shares {
  const share = Math.max(1, Math.floor(room / Math.max(1, webhookIds.length)));
  const lanes: { webhookId: string; most: number }[] = [];
  let left = room;
  let isAllServed = true;
  for (const webhookId of inRandomOrder(webhookIds)) {
    if (left === 0) return { lanes, isAllServed: false, isRoomLeft: true };
    const most = grant(webhookId, Math.min(share, left));
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
