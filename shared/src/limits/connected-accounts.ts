/** Connected accounts of apps, and the OAuth providers that they come from. */
export const CONNECTED_ACCOUNT_LIMITS = {
  /**
   * What all app props of one run get of their accounts: each gets all of it, also where they name
   * the same one.
   */
  maxRunAuthBytes: 8 * 1024 * 1024,
  /**
   * Per account: apps that it has defined for itself, and the definition of one of them as JSON.
   */
  maxAccountApps: 100,
  maxAccountAppBytes: 64 * 1024,
  /** Of one account: accounts of apps that are connected. */
  maxConnectedAccounts: 1_000,
  /** Values of the fields of one connected account, together. */
  maxCredentialsBytes: 64 * 1024,
  /**
   * From the start of an OAuth flow to its callback; flows of one account at the same time, of
   * which the oldest end.
   */
  oauthStateSeconds: 600,
  maxOAuthStatesPerAccount: 100,
  /** What a provider gives: an authorization code, and each token. */
  maxOAuthCodeChars: 4_096,
  maxOAuthTokenChars: 16 * 1024,
  /** A request to a provider's token endpoint and the like, and its answer. */
  providerTimeoutMs: 15_000,
  maxProviderAnswerBytes: 256 * 1024,
  /**
   * An answer of a token endpoint that is a form. Of as many bytes as above, one made for it holds
   * the thread a third of a second.
   */
  maxProviderFormBytes: 16 * 1024,
  /** Connected accounts that one node keeps in memory, opened; what they take there, about. */
  maxCachedAuthBytes: 32 * 1024 * 1024,
  /**
   * How long one node alone may fetch new tokens of a connected account: longer than the request
   * takes at most.
   */
  refreshLeaseSeconds: 30,
} as const;
