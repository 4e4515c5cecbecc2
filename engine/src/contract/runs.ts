import type { Page, PageRequest, Principal } from './base.ts';
import type { ShownJson } from './workflows.ts';

/** A run of a source whose sandbox process ended too often while the run was alone in it. */
export interface AbandonedRunRecord {
  /** Id of its invocation, `inv_…`. */
  id: string;
  sourceId: string;
  kind: string;
  /** For kind `event`, the event that started the run: `<emitter id>-<event id>`. */
  causedBy?: string;
  traceId: string;
  event: ShownJson;
  message: string;
  abandonedAt: Date;
}

/** Which abandoned runs are meant; default: all of the account. */
export interface AbandonedRunChoice {
  sourceId?: string;
  /** From this time on, before that one; when they were abandoned. */
  since?: Date;
  until?: Date;
}

export interface AbandonedRuns {
  /** Newest first. Throws NOT_FOUND for a source of another account. */
  list(who: Principal, page: PageRequest, choice: AbandonedRunChoice): Promise<Page<AbandonedRunRecord>>;
  /**
   * Makes the same invocation again, with its id, event and trace. Returns 1, or 0 if it is already
   * under way again. Throws NOT_FOUND if it is neither abandoned nor under way, RATE_LIMITED if the
   * account's queue has no room.
   */
  retry(who: Principal, id: string): Promise<number>;
  /** The same of all that are chosen, oldest first, as far as there is room. Answers how many. */
  retryAll(who: Principal, choice: AbandonedRunChoice): Promise<number>;
}
