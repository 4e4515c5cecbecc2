import type { FilterJson } from '@headwater/shared';
import type { Replay } from '@headwater/shared/contract';
import type { Page, PageRequest, Principal } from './base.ts';

/** Which past events of an emitter go to which listener. All that is given must hold. */
export interface ReplayRequest {
  emitterId: string;
  listenerId: string;
  /**
   * When the event was stored: `since` is included, `until` is not. Default: the first one, now.
   */
  since?: Date;
  until?: Date;
  /** A channel or a pattern, '' being the default channel. Default: all but the built-in ones. */
  eventName?: string;
  filter?: unknown;
  /** Ids of events: `1606511826306-0`. */
  ids?: readonly string[];
  /** Default: as fast as the listener takes them. */
  ratePerSecond?: number;
  /** Only counts. */
  dryRun?: boolean;
}

export interface ReplayRecord {
  /** Absent for a dry run. */
  id?: string;
  status: Replay['status'];
  /** Why it has failed. */
  error?: string;
  emitterId: string;
  listenerId: string;
  eventName?: string;
  filter: FilterJson | null;
  since?: Date;
  until: Date;
  ids?: string[];
  ratePerSecond?: number;
  /** Events that were found when it was made. */
  count: number;
  /** False: there may be more than were looked through. */
  isCountComplete: boolean;
  /** So many of them the listener has got before, as far as is known. */
  deliveredBefore: number;
  /** Deliveries, runs or executions that it has made. */
  sent: number;
  createdAt: Date;
  endedAt?: Date;
}

export interface Replays {
  /**
   * Throws NOT_FOUND for an emitter or listener of another account, CONFLICT for a listener that is
   * stopped.
   */
  create(who: Principal, request: ReplayRequest): Promise<ReplayRecord>;
  list(who: Principal, page: PageRequest): Promise<Page<ReplayRecord>>;
  get(who: Principal, id: string): Promise<ReplayRecord>;
  /** Its deliveries stay. Throws CONFLICT where it has ended. */
  cancel(who: Principal, id: string): Promise<ReplayRecord>;
}
