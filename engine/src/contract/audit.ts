import type { Page, PageRequest } from './base.ts';

/** One change: who did what to which thing. */
export interface AuditEntry {
  id: string;
  /** Undefined: the instance, not an account. */
  accountId?: string;
  at: Date;
  /** `key_…`, the user of a member, `u_…`, or `operator`. */
  actorId: string;
  actorName: string;
  address?: string;
  /** The operation of the API: `updateSource`. */
  action: string;
  /** The id that it was done to; the path where it has none. */
  thing: string;
  /** The fields that differ, secrets masked. Absent where there was nothing, or nothing to show. */
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  requestId: string;
  /**
   * `unknown`: the change is under way, failed with 5xx, left something behind, or its node ended
   * before it could tell the result. Such an entry becomes `made`, goes, or stays.
   */
  outcome: 'made' | 'unknown';
}

export type NewAuditEntry = Omit<AuditEntry, 'id' | 'at' | 'outcome'>;

export interface AuditChoice {
  since?: Date;
  until?: Date;
  actor?: string;
  action?: string;
  thing?: string;
}

export interface Audit {
  /**
   * Makes a change that has an entry, whatever happens to the node. The entry `begun` is stored
   * first, with the outcome `unknown`: where that fails, it rejects and nothing was changed. After
   * the change, the entries of `made` take its place; there are none for a change that was refused.
   * If they cannot be stored within seconds, it resolves nonetheless and tries to store them a few
   * more times. Rejects as `make` does. Entries that come together are stored together.
   */
  change<T>(begun: NewAuditEntry, make: () => Promise<T>, made: (value: T) => readonly NewAuditEntry[]): Promise<T>;
  /** Newest first. `accountId` undefined: of all accounts and of the instance, for the operator. */
  list(accountId: string | undefined, page: PageRequest, choice: AuditChoice): Promise<Page<AuditEntry>>;
}
