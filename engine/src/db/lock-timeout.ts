import type { Sql, Transaction } from './database.ts';

/**
 * How long a commit waits for locks of other transactions. Heavy commits wait without a limit; a
 * commit that is repeated after it was held up waits briefly.
 */
export type Patience = 'endless' | 'usual' | 'short';

/**
 * Another transaction may hold rows of one tenant for a second and more: another node's commit,
 * which rests between its pieces, or a wide deletion. What waits for it longer than commits of two
 * nodes do that bring little is committed beside the others.
 */
export const MAX_LOCK_MS = { endless: undefined, usual: 100, short: 25 } as const;

/** Applies to the next statements of the transaction: see wasHeldUp. Undefined: no limit. */
export async function setLockTimeout(tx: Sql | Transaction, maxLockMs: number | undefined): Promise<void> {
  if (maxLockMs !== undefined) await tx`select set_config('lock_timeout', ${`${maxLockMs}ms`}, true)`;
}
