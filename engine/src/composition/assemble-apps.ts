import type { LimitsCache } from '../accounts/limits-cache.ts';
import { createApps } from '../connections/apps/apps.ts';
import type { Apps, ConnectedAccounts } from '../contract/apps.ts';
import type { GuestFetch } from '../egress/guest-fetch.ts';
import type { EngineOptions } from '../contract/engine-options.ts';
import type { Sealer } from '../secrets/seal.ts';
import type { Sql } from '../db/database.ts';
import type { AccountContext } from '../connections/account-context.ts';
import { type AuthCache, createAuthCache } from '../connections/auth-cache.ts';
import { createConnectedAccounts } from '../connections/connected-accounts.ts';
import { createAskProvider } from '../connections/provider-request.ts';
import { createAccountResolver } from '../connections/share-resolves.ts';

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
