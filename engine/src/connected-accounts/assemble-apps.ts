import type { LimitsCache } from '../accounts/limits-cache.ts';
import { createApps } from '../apps/apps.ts';
import type { Apps, ConnectedAccounts } from '../contract-apps.ts';
import type { GuestFetch } from '../egress/guest-fetch.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { Sql } from '../store/database.ts';
import type { AccountContext } from './account-context.ts';
import { type AuthCache, createAuthCache } from './auth-cache.ts';
import { createConnectedAccounts } from './connected-accounts.ts';
import { createAskProvider } from './provider-request.ts';
import { createAccountResolver } from './share-resolves.ts';

export interface AppParts {
  sql: Sql;
  sealer: Sealer;
  guestFetch: GuestFetch;
  limits: LimitsCache;
}

export interface AssembledApps {
  apps: Apps;
  connectedAccounts: ConnectedAccounts;
  /** For runs. */
  auth: AuthCache;
}

/** Everything about apps and the accounts that are connected to them. */
export function assembleApps(parts: AppParts, { publicUrl, oauthRedirectOrigins, log }: EngineOptions): AssembledApps {
  const { sql, sealer } = parts;
  const ask = createAskProvider({ fetch: parts.guestFetch.fetch, limits: parts.limits });
  const context: AccountContext = { sql, sealer, ask, log };
  const resolver = createAccountResolver(context);
  const auth = createAuthCache(resolver);
  const options = { publicUrl, redirectOrigins: oauthRedirectOrigins ?? [] };
  const connectedAccounts = createConnectedAccounts(
    { ...context, resolve: resolver.resolve, forget: auth.forget },
    options,
  );
  return { apps: createApps({ sql, sealer }), connectedAccounts, auth };
}
