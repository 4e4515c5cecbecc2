import type { AccountLimits, KeyScope } from '@headwater/shared';
import type { Page, PageRequest, Principal } from './base.ts';

export interface AccountRecord {
  id: string;
  name: string;
}

/** An account as its operator sees it in the list; `sources`: how many are deployed. */
export interface AccountSummary extends AccountRecord {
  sources: number;
  createdAt: Date;
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
  history: AccountHistory;
}

/** As far as nodes have told of it. */
export interface AccountHistory {
  bytes: number;
  /**
   * What is older was deleted, or is being deleted, because there was more than maxHistoryBytes.
   * Absent: nothing had to be.
   */
  keptFrom?: Date;
}

export interface UserRecord {
  id: string;
  username: string;
  email?: string;
  account: AccountRecord;
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
}

export interface NewApiKey {
  name: string;
  /** Default: `full`. */
  scopes?: readonly KeyScope[];
  /** Default: it works until it is revoked. */
  expiresAt?: Date;
}

export interface Accounts {
  create(input: {
    name: string;
    email?: string;
  }): Promise<{ account: AccountRecord; user: { id: string }; apiKey: string }>;
  /** Undefined for an unknown or revoked key. */
  authenticate(apiKey: string): Promise<Principal | undefined>;
  /** Whether this node has seen that it is somebody's; it may have been revoked since. */
  isKnown(apiKey: string): boolean;
  me(who: Principal): Promise<UserRecord>;
  listKeys(who: Principal, page: PageRequest): Promise<Page<ApiKeyRecord>>;
  createKey(who: Principal, key: NewApiKey): Promise<{ record: ApiKeyRecord; apiKey: string }>;
  revokeKey(who: Principal, id: string): Promise<void>;
  /**
   * A key with the scope `webhooks`, of the oldest user of the account. Throws NOT_FOUND, and as
   * createKey.
   */
  createPortalKey(accountId: string, expiresAt: Date): Promise<{ record: ApiKeyRecord; apiKey: string }>;
  /**
   * For the operator: where `$.send.email` sends to. Null removes it. Throws INVALID_REQUEST,
   * NOT_FOUND.
   */
  setEmail(accountId: string, email: string | null): Promise<AccountRecord & { email?: string }>;
  /** All accounts, for the operator. */
  list(page: PageRequest): Promise<Page<AccountSummary>>;
  limits(accountId: string): Promise<AccountLimitsRecord>;
  /**
   * Sets what is given and takes back what is null; the rest stays. Holds at once on this node, and
   * as soon as they hear of it on the others. Throws INVALID_REQUEST with everything that is wrong,
   * NOT_FOUND.
   */
  setLimits(accountId: string, change: Readonly<Record<string, unknown>>): Promise<AccountLimitsRecord>;
}
