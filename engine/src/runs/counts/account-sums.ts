import { every, retryUntilDatabaseBack } from '../../db/index.ts';
import type { Log } from '../../contract/index.ts';
import { createEstimates } from '../estimates.ts';
import { limitTimeShare } from '../limit-time-share.ts';

export interface AccountSumsOptions {
  /** Counts them all. */
  read: () => Promise<ReadonlyMap<string, number>>;
  /** Name of the counted thing, for the log. */
  what: string;
  /** Default: READ_EVERY_MS. */
  everyMs?: number | undefined;
  log: Log;
}

/** Bytes that each account has of something: see Estimates. */
export interface AccountSums {
  of(accountId: string): number;
  /** Adds the growth of an account; a negative value is a decrease. */
  add(accountId: string, bytes: number): void;
  stop(): Promise<void>;
}

const READ_EVERY_MS = 5_000;

/** Resolves when it has been counted once. */
export async function startAccountSums(options: AccountSumsOptions): Promise<AccountSums> {
  const { read, what, everyMs = READ_EVERY_MS, log } = options;
  const bytes = createEstimates({ read, nothing: 0, sum: (a, b) => a + b });
  await retryUntilDatabaseBack(log, bytes.refresh);
  const onError = (err: unknown) => log.warn({ err, what }, 'the usage of accounts could not be counted');
  return { of: bytes.of, add: bytes.add, stop: every(everyMs, limitTimeShare(bytes.refresh), onError) };
}
