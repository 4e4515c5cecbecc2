export type { AccountContext } from './account-context.ts';
export { ownSlug, seedApps, seenBy } from './apps/apps.sql.ts';
export { createApps } from './apps/apps.ts';
export { type AuthCache, createAuthCache } from './auth-cache.ts';
export { starterCatalogue } from './catalogue/catalogue.ts';
export { createConnectedAccounts } from './connected-accounts.ts';
export { createAskProvider } from './provider-request.ts';
export { createAccountResolver } from './share-resolves.ts';
