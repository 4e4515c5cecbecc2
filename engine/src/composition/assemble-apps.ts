import type { LimitsCache } from '../accounts/index.ts';
import {
  type AccountContext,
  type AuthCache,
  createAccountResolver,
  createApps,
  createAskProvider,
  createAuthCache,
  createConnectedAccounts,
} from '../connections/index.ts';
import type { Apps, ConnectedAccounts, EngineOptions } from '../contract/index.ts';
import type { GuestFetch } from '../egress/index.ts';
import type { Sealer } from '../secrets/index.ts';
import type { Sql } from '../db/index.ts';

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
