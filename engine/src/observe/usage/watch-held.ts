import { LIMITS } from '@headwater/shared';
import type { LimitsCache } from '../../accounts/index.ts';
import type { Log } from '../../contract/index.ts';
import { every, type Sql } from '../../db/index.ts';
import { limitTimeShare } from '../../runs/index.ts';
import { findUnseenAccounts, HELD_LIMITS, noteStorage, readHeld, notifyNearLimits } from './usage.sql.ts';

export interface HeldOptions {
  sql: Sql;
  limits: Pick<LimitsCache, 'get'>;
  nowMs: () => number;
}

const LOOK_EVERY_MS = 10_000;
/** Accounts that one turn looks at. */
const TURN_ACCOUNTS = 50;

/**
 * Looks at what each account has stored, again and again: its day is told the most of it, and the
 * account where it is near a limit. Answers a stop.
 */
export function watchHeld(options: HeldOptions & { log: Log }): () => Promise<void> {
  const look = limitTimeShare(() => lookAtSome(options));
  const onError = (err: unknown) => options.log.warn({ err }, 'the stored bytes of accounts could not be read');
  return every(LOOK_EVERY_MS, look, onError);
}

async function lookAtSome(options: HeldOptions): Promise<void> {
  const beforeMs = options.nowMs() - LIMITS.storageLookMs;
  for (const id of await findUnseenAccounts(options.sql, { beforeMs, limit: TURN_ACCOUNTS }))
    await lookAtHeld(options, id);
}

export async function lookAtHeld({ sql, limits }: HeldOptions, accountId: string): Promise<void> {
  const held = await readHeld(sql, accountId);
  const ofAccount = await limits.get(accountId);
  const { maxHistoryBytes, maxAllDbBytes, maxCodeBytes, maxConfigurationBytes, maxWaitingBytes, dataStoreBytes } = held;
  const bytes =
    maxHistoryBytes + maxAllDbBytes + maxCodeBytes + maxConfigurationBytes + maxWaitingBytes + dataStoreBytes;
  await notifyNearLimits(
    sql,
    accountId,
    HELD_LIMITS.map((name) => ({ name, value: ofAccount[name], used: held[name] })),
  );
  await noteStorage(sql, accountId, bytes);
}
