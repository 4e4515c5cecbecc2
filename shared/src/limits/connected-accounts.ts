import { defineLimits } from './define-limits.ts';

/** Connected accounts of apps, and the OAuth providers that they come from. */
// biome-ignore format: one limit a line
export const CONNECTED_ACCOUNT_LIMITS = defineLimits({
  maxRunAuthBytes: { default: 8 * 1024 * 1024, unit: 'bytes', scope: 'run', why: 'credentials that all app props get, counted again where two name the same account' },
  maxAccountApps: { default: 100, unit: 'count', scope: 'account', why: 'apps that an account has defined for itself' },
  maxAccountAppBytes: { default: 64 * 1024, unit: 'bytes', scope: 'app', why: 'the definition of such an app, as JSON' },
  maxConnectedAccounts: { default: 1_000, unit: 'count', scope: 'account', why: 'connected accounts of apps' },
  maxCredentialsBytes: { default: 64 * 1024, unit: 'bytes', scope: 'connected account', why: "values of the app's fields, together" },
  oauthStateSeconds: { default: 600, unit: 'seconds', scope: 'connected account', why: 'from the start of an OAuth flow to its callback' },
  maxOAuthStatesPerAccount: { default: 100, unit: 'count', scope: 'account', why: 'OAuth flows under way; the oldest make room' },
  maxOAuthCodeChars: { default: 4_096, unit: 'characters', scope: 'provider', why: 'an authorization code' },
  maxOAuthTokenChars: { default: 16 * 1024, unit: 'characters', scope: 'provider', why: 'each token' },
  providerTimeoutMs: { default: 15_000, unit: 'ms', scope: 'provider', why: 'a request to a token endpoint and the like' },
  maxProviderAnswerBytes: { default: 256 * 1024, unit: 'bytes', scope: 'provider', why: 'the answer of a token endpoint and the like' },
  maxProviderFormBytes: { default: 16 * 1024, unit: 'bytes', scope: 'provider', why: 'such an answer as a form, which only token endpoints may give; a longer one can hold the thread 0.3 s' },
  maxCachedAuthBytes: { default: 32 * 1024 * 1024, unit: 'bytes', scope: 'node', why: 'opened credentials that are kept in memory; one account has at most half once it is full' },
  refreshLeaseSeconds: { default: 30, unit: 'seconds', scope: 'connected account', why: 'how long one node alone may fetch new tokens; longer than the request can take' },
});
