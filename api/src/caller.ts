import type { Principal } from '@headwater/engine';

/**
 * Placeholder caller for operator endpoints, which have no tenant. The handler's type does not show
 * it.
 */
export const NOBODY: Principal = { accountId: '', userId: '' };
