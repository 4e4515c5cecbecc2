import type { AccountLimits, KeyScope, Role } from '@headwater/shared';
import type { Condition, Page, PageRequest, Principal } from './base.ts';
import type { UsageCounts } from './usage.ts';

export interface AccountRecord {
  id: string;
  name: string;
}

/** An account as its operator sees it. */
export interface AccountSummary extends AccountRecord {
  /** The e-mail address of its first user. */
  email?: string;
  /** Deployed ones. */
  sources: number;
  workflows: number;
  webhooks: number;
  /** The bytes that maxHistoryBytes counts, as of some seconds ago. */
  historyBytes: number;
  /** Use in this month, in UTC, as of some seconds ago. */
  usedThisMonth: UsageCounts & { storageBytes: number };
  createdAt: Date;
  /** Since when the operator has suspended it. */
  suspendedAt?: Date;
  /** Since when it is being deleted. */
  deletedAt?: Date;
}

/** The deletion of an account. `endedAt`: from then on nothing of it is left. */
export interface AccountDeletion extends AccountRecord {
  requestedAt: Date;
  deletedRows: number;
  endedAt?: Date;
}

/**
 * The limits that hold for an account, the node's defaults, what was set for the account, and what
 * maxHistoryBytes counts.
 */
export interface AccountLimitsRecord {
  accountId: string;
  limits: AccountLimits;
  defaults: AccountLimits;
  set: Partial<AccountLimits>;
  /** The same for the same limits that are set. */
  tag: string;
  history: AccountHistory;
}

/** Settings that an account decides for itself. */
export interface AccountSettings {
  accountId: string;
  /** Traces of its callers are taken in and passed on. */
  traceContext: boolean;
}

/** As far as nodes have told of it. */
export interface AccountHistory {
  bytes: number;
  /**
   * Anything older was deleted, or is being deleted, because there was more than maxHistoryBytes.
   * Absent: nothing had to be.
   */
  keptFrom?: Date;
}

/** An account of a member, and what the member may do there. */
export interface Membership extends AccountRecord {
  role: Role;
}

export interface UserRecord {
  id: string;
  username: string;
  email?: string;
  account: AccountRecord;
  /** All accounts of a member; absent for an API key. */
  memberships?: Membership[];
  /** Use of today's countable resources, for `GET /users/me`. */
  /**
   * How many there are; of subscriptions with the auto subscriptions, which the same limit counts.
   */
  usage: { sources: number; workflows: number; webhooks: number; subscriptions: number };
  limits: Pick<AccountLimits, 'maxSources' | 'maxWorkflows' | 'maxWebhooks' | 'maxSubscriptions'>;
}

export interface ApiKeyRecord {
  id: string;
  name: string;
  hint: string;
  scopes: readonly KeyScope[];
  createdAt: Date;
  expiresAt?: Date;
  revokedAt?: Date;
  /** The one source, workflow or webhook that it reaches. */
  resource?: string;
  /** As of half a minute ago. */
  lastUsedAt?: Date;
}

export interface NewApiKey {
  name: string;
  /** Default: `full`. */
  scopes?: readonly KeyScope[];
  /** Default: it works until it is revoked. */
  expiresAt?: Date;
  /** The id of the one source, workflow or webhook that it reaches. Default: all. */
  resource?: string;
}

/** Something that an account has. An account has to have all that is given. */
export interface Owned {
  /** The key in the URL of an endpoint. */
  endpointKey?: string;
  executionId?: string;
  /** SHA-256 of an API key, in hex. */
  apiKeySha256?: string;
}

export interface AccountChange {
  name?: string;
  email?: string | null;
}

export interface Accounts {
  create(input: {
    name: string;
    email?: string;
  }): Promise<{ account: AccountRecord; user: { id: string }; apiKey: string }>;
  /** Takes the bearer of a session as well. Undefined for an unknown or revoked one. */
  authenticate(apiKey: string): Promise<Principal | undefined>;
  /** Whether this node has seen that it is somebody's; it may have been revoked since. */
  isKnown(apiKey: string): boolean;
  me(who: Principal): Promise<UserRecord>;
  /** Throws NOT_FOUND once the account is gone. */
  settings(who: Principal): Promise<AccountSettings>;
  /** A setting that is not given stays. Holds at once on this node. Throws as settings. */
  changeSettings(who: Principal, change: Partial<Omit<AccountSettings, 'accountId'>>): Promise<AccountSettings>;
  listKeys(who: Principal, page: PageRequest): Promise<Page<ApiKeyRecord>>;
  createKey(who: Principal, key: NewApiKey): Promise<{ record: ApiKeyRecord; apiKey: string }>;
  revokeKey(who: Principal, id: string): Promise<void>;
  /**
   * A new key like this one, which ends after so many hours; 0: at once. Throws NOT_FOUND, also for
   * a key that has ended, and as createKey.
   */
  rotateKey(who: Principal, id: string, overlapHours: number): Promise<{ record: ApiKeyRecord; apiKey: string }>;
  /**
   * A key with the scope `webhooks`, of the oldest user of the account. Throws NOT_FOUND, and as
   * createKey.
   */
  createPortalKey(accountId: string, expiresAt: Date): Promise<{ record: ApiKeyRecord; apiKey: string }>;
  /**
   * Another key of the account, for the operator: of its oldest user. Throws NOT_FOUND, and as
   * createKey.
   */
  createKeyOf(accountId: string, key: NewApiKey): Promise<{ record: ApiKeyRecord; apiKey: string }>;
  /** All accounts, or the one that has what is given, for the operator. */
  list(request: PageRequest & Owned): Promise<Page<AccountSummary>>;
  /** One of them. Throws NOT_FOUND. */
  get(accountId: string): Promise<AccountSummary>;
  /**
   * For the operator: its name, and where `$.send.email` sends to, which null removes; the rest
   * stays. Throws INVALID_REQUEST, NOT_FOUND.
   */
  update(accountId: string, change: AccountChange): Promise<AccountSummary>;
  /**
   * Refuses what the account's keys would change and what its endpoints are sent, fires none of its
   * timers, and holds what it has to run and to deliver; what runs ends. False takes that back:
   * what was held goes on. Idempotent. Holds at once on this node, and as soon as they hear of it
   * on the others. Throws NOT_FOUND, and CONFLICT for one that is being deleted.
   */
  suspend(accountId: string, isSuspended: boolean): Promise<AccountSummary>;
  /**
   * Ends it for good: its keys and endpoints are gone at once, and a job that any node goes on with
   * deletes all that it has. Idempotent, and answers how far that is. Throws NOT_FOUND.
   */
  delete(accountId: string): Promise<AccountDeletion>;
  /** Throws ACCOUNT_SUSPENDED where the operator has suspended it. */
  requireActive(accountId: string): Promise<void>;
  limits(accountId: string): Promise<AccountLimitsRecord>;
  /**
   * Sets what is given and takes back what is null; the rest stays. Holds at once on this node, and
   * as soon as they hear of it on the others. Throws INVALID_REQUEST with everything that is wrong,
   * NOT_FOUND.
   */
  setLimits(
    accountId: string,
    change: Readonly<Record<string, unknown>>,
    condition?: Condition,
  ): Promise<AccountLimitsRecord>;
}
