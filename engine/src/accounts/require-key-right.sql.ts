import { HeadwaterError, rolesWith } from '@headwater/shared';
import type { Transaction } from '../db/database.ts';

/**
 * Throws FORBIDDEN if the member may not make keys at this moment. The account must be locked. A
 * principal may be five seconds old, and a key that it makes would stay.
 */
export async function requireKeyRight(tx: Transaction, accountId: string, userId: string): Promise<void> {
  const [may] = await tx`
    select from memberships
    where account_id = ${accountId} and user_id = ${userId} and role = any(${rolesWith('keys')}::text[])`;
  if (may === undefined)
    throw new HeadwaterError('FORBIDDEN', 'Your role in this account does not include its API keys');
}
