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
}

export interface AuditChoice {
  since?: Date;
  until?: Date;
  actor?: string;
  action?: string;
  thing?: string;
}

export interface Audit {
  /**
   * Adds an entry, directly after the change. Entries that come together are stored together.
   * Rejects while the database is away.
   */
  record(entry: Omit<AuditEntry, 'id' | 'at'>): Promise<void>;
  /** Newest first. `accountId` undefined: of all accounts and of the instance, for the operator. */
  list(accountId: string | undefined, page: PageRequest, choice: AuditChoice): Promise<Page<AuditEntry>>;
}
