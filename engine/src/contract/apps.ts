import type { OAuthClientRecord } from '@headwater/shared/contract';
import type { AppDefinition, StoredApp } from './app-definition.ts';
import type { Page, PageRequest, Principal } from './base.ts';

export type { OAuthClientRecord } from '@headwater/shared/contract';

/** An app of the catalogue, or of the account, as the account sees it. */
export interface AppRecord extends StoredApp {
  /** Owner of the OAuth client that a connection uses; absent if there is none. */
  oauthClient?: 'instance' | 'own';
}

export interface OAuthClientInput {
  clientId: string;
  /** Absent for a public client. */
  clientSecret?: string;
}

export interface Apps {
  /** In the order of their slugs. `query`: a part of the slug or the name. */
  list(who: Principal, page: PageRequest & { query?: string }): Promise<Page<AppRecord>>;
  /** By slug or `app_` id. */
  get(who: Principal, slugOrId: string): Promise<AppRecord>;
  /**
   * Creates an app of the account or, without `who`, as the operator, in the catalogue. Throws
   * INVALID_REQUEST with all faults, and CONFLICT for a slug that the account or the catalogue has.
   * Throws CONFLICT with the limit if the account has too many apps.
   */
  create(who: Principal | undefined, definition: AppDefinition): Promise<AppRecord>;
  /**
   * Replaces the definition; the slug does not change. Throws FORBIDDEN if an account names an app
   * of the catalogue.
   */
  replace(who: Principal | undefined, slugOrId: string, definition: AppDefinition): Promise<AppRecord>;
  /** Only the account's own. CONFLICT while accounts are connected to it. */
  delete(who: Principal, slugOrId: string): Promise<void>;
  /** For the operator: the client that accounts without one of their own use. */
  setInstanceClient(slugOrId: string, client: OAuthClientInput): Promise<OAuthClientRecord>;
  deleteInstanceClient(slugOrId: string): Promise<void>;
  setOwnClient(who: Principal, slugOrId: string, client: OAuthClientInput): Promise<OAuthClientRecord>;
  deleteOwnClient(who: Principal, slugOrId: string): Promise<void>;
  /** The account's own clients, at most one an app. */
  listOwnClients(who: Principal): Promise<OAuthClientRecord[]>;
}

export interface ConnectedAccountRecord {
  id: string;
  userId: string;
  app: { id: string; slug: string; name: string; authType: AppDefinition['authType'] };
  name?: string;
  /** The user's id at the provider. */
  uid?: string;
  scopes: string[];
  /** `dead`: the provider no longer accepts the credentials; `reason` is its answer. */
  state: 'healthy' | 'dead';
  reason?: string;
  checkedAt?: Date;
  /** Expiry of the access token; a new one is fetched before. */
  expiresAt?: Date;
  createdAt: Date;
  updatedAt: Date;
}

export interface ConnectedAccountCreate {
  app: string;
  name?: string;
  credentials: Record<string, unknown>;
}

export interface OAuthStart {
  app: string;
  name?: string;
  scopes?: readonly string[];
  /**
   * Final target of the browser: a path of this server, loopback, or an origin that the operator
   * allows.
   */
  redirect?: string;
  /** Values of the app's fields. */
  fields?: Record<string, unknown>;
  /** Connects an existing account anew instead of making one. */
  connectedAccountId?: string;
}

/** Query parameters that the provider sends back with the browser. */
export interface OAuthCallback {
  state?: string;
  code?: string;
  issuer?: string;
  error?: string;
  errorDescription?: string;
}

/** Outcome of a flow. `redirect`, if the flow named one, already has the outcome in its query. */
export type OAuthOutcome =
  | { ok: true; account: ConnectedAccountRecord; workspace: string; redirect?: string }
  /** `message` holds no code, token or secret. */
  | { ok: false; message: string; redirect?: string };

export type AroundConnecting = (
  flow: { accountId: string; userId: string; app: string },
  connect: () => Promise<string>,
) => Promise<string>;

export interface CheckOutcome {
  account: ConnectedAccountRecord;
  /**
   * False where nothing could be asked, or the answer says nothing about the credentials; `detail`
   * says why.
   */
  conclusive: boolean;
  detail: string;
}

export interface DeletedAccount {
  id: string;
  revocation: { status: 'revoked' | 'failed' | 'not-supported'; detail: string };
}

/** Every method answers NOT_FOUND for an account of another tenant. */
export interface ConnectedAccounts {
  /** With keys. Throws INVALID_REQUEST with everything that is wrong. */
  create(who: Principal, input: ConnectedAccountCreate): Promise<ConnectedAccountRecord>;
  /**
   * Newest first. `app`: only this app, by slug or `app_` id; throws INVALID_REQUEST if it is
   * unknown. `query`: the same or, without a match, every app whose slug or name contains the text.
   */
  list(who: Principal, page: PageRequest & { app?: string; query?: string }): Promise<Page<ConnectedAccountRecord>>;
  get(who: Principal, id: string): Promise<ConnectedAccountRecord>;
  /** With `$auth` as a component would see it now, with a fresh token. Throws AUTH_FAILED. */
  getWithCredentials(
    who: Principal,
    id: string,
  ): Promise<{ account: ConnectedAccountRecord; credentials: Record<string, unknown> }>;
  /** `credentials` replace those of an account with keys. An empty name is removed. */
  update(
    who: Principal,
    id: string,
    change: { name?: string; credentials?: Record<string, unknown> },
  ): Promise<ConnectedAccountRecord>;
  /** Asks the provider whether it still accepts the credentials. */
  check(who: Principal, id: string): Promise<CheckOutcome>;
  /** Deletes it and, where the provider can be asked to, ends its tokens there. */
  delete(who: Principal, id: string): Promise<DeletedAccount>;
  startOAuth(who: Principal, input: OAuthStart): Promise<{ authorizeUrl: string; expiresAt: Date }>;
  /**
   * For an unauthenticated browser: the state is the only proof, and is accepted once. `around`
   * makes the connected account of a flow that is known, and answers its id.
   */
  finishOAuth(callback: OAuthCallback, around?: AroundConnecting): Promise<OAuthOutcome>;
}
