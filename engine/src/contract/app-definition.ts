/** How users of an app authenticate: not at all, with keys that they copy, or by OAuth 2. */
export type AppAuthType = 'none' | 'keys' | 'oauth2';

/** One value that the user enters to connect an account, and a key of `$auth`. */
export interface AppField {
  /** As components read it: `this.app.$auth.<name>`. */
  name: string;
  label: string;
  description?: string;
  /**
   * Taken out of logs, errors and events. Default true for apps with keys, false for OAuth apps.
   */
  secret?: boolean;
  /** Default false. */
  optional?: boolean;
  /** Only for an optional field. */
  default?: string;
}

/**
 * OAuth 2.0 authorization code. URLs may hold `{{field}}`; in a host it stands for one label of it,
 * so that no value of a tenant decides where the client's secret is sent.
 */
export interface AppOAuth {
  authorizeUrl: string;
  tokenUrl: string;
  /** RFC 7009. */
  revokeUrl?: string;
  /**
   * Answers JSON about the user to a GET with the access token; asked when an account is connected
   * or checked.
   */
  userinfoUrl?: string;
  /** Scopes requested unless the user names others. */
  scopes: readonly string[];
  /** Default a space. */
  scopeSeparator?: string;
  /** Default `scope`. */
  scopeParameter?: string;
  /** S256 (RFC 7636). */
  pkce: boolean;
  /** How the client proves itself at the token endpoint. `none`: a public client. */
  tokenAuth: 'basic' | 'body' | 'none';
  /** Encoding of requests to the token endpoint. Default `form`. */
  tokenBody?: 'form' | 'json';
  /**
   * Path of the object with the tokens in the token endpoint's response. Default: the response
   * itself.
   */
  tokenAt?: string;
  authorizeParameters?: Readonly<Record<string, string>>;
  /** Lifetime of an access token whose response names none. Default: forever. */
  lifetimeSeconds?: number;
  /**
   * Each refresh answers a new refresh token and ends the old one. Said for people; both kinds are
   * handled alike.
   */
  rotatesRefreshTokens?: boolean;
  /**
   * The provider names itself in its answer (RFC 9207): an answer of another one, or of none, is
   * refused.
   */
  issuer?: string;
  /**
   * Further keys of `$auth` and their sources: `token.<path>`, `userinfo.<path>` or
   * `id_token.<path>`. `oauth_uid` is the user's id at the provider.
   */
  values?: Readonly<Record<string, string>>;
}

/**
 * A request that succeeds with working keys, for apps with keys. Never one that changes something.
 */
export interface AppTest {
  url: string;
  auth:
    | { type: 'bearer'; token: string }
    | { type: 'basic'; user: string; password: string }
    | { type: 'header'; name: string; value: string }
    /** The URL holds them. */
    | { type: 'none' };
  headers?: Readonly<Record<string, string>>;
}

/** An app of the catalogue. */
export interface AppDefinition {
  /** The name that components use: `{ type: "app", app: "<slug>" }`. */
  slug: string;
  name: string;
  description?: string;
  docsUrl?: string;
  authType: AppAuthType;
  fields: readonly AppField[];
  oauth?: AppOAuth;
  test?: AppTest;
}

/** An app with its row. */
export interface StoredApp {
  id: string;
  definition: AppDefinition;
  /**
   * The account that owns the app; no other account sees it. Absent: the app is in the catalogue.
   */
  accountId?: string;
  /** The catalogue has got one of the same slug since, which the account does not see. */
  hidesCatalogue?: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** Whether the value of a field is a secret. */
export function isSecretField(app: Pick<AppDefinition, 'authType'>, field: AppField): boolean {
  return field.secret ?? app.authType === 'keys';
}
