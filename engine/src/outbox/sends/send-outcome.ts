import { type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';

/** What became of one attempt. `again`: the retry policy says when, or that it was the last. */
export type SendOutcome = Partial<{
  statusCode: number;
  error: string;
  /**
   * The error without anything that was given or answered; absent where nothing of it can be told.
   */
  plain: string;
  /** The limit that is the reason. */
  limit: ExceededLimit;
  /** The beginning of what the receiver answered. */
  response: string;
  retryAfter: string;
  timedOut: boolean;
}> & { kind: 'delivered' | 'final' | 'again' | 'cut-off' };

export const final = (error: string, more: Pick<SendOutcome, 'limit' | 'plain'> = {}): SendOutcome => ({
  kind: 'final',
  error,
  ...more,
});

export const again = (error: string): SendOutcome => ({ kind: 'again', error });

/** Of a limit its name, value and what was used are all that there is to tell. */
export function plainOf({ plain, limit }: { plain?: string; limit?: ExceededLimit }): Pick<SendOutcome, 'plain'> {
  if (plain !== undefined) return { plain };
  // By this name the account's limit is another; see limitOf.
  if (limit?.name === 'fetchTimeoutMs') return { plain: `It took longer than ${limit.value} ms` };
  return limit === undefined ? {} : { plain: `It went over ${limit.name}, which is ${limit.value}` };
}

/**
 * Where a value of the platform stands in for the account's (`sendTimeoutMs`), the limit by that
 * name is another.
 */
export function limitOf(limits: AccountLimits, exceeded: ExceededLimit | undefined): { limit?: ExceededLimit } {
  if (exceeded === undefined) return {};
  const own: Partial<Record<ExceededLimit['name'], number>> = { ...LIMITS, ...limits };
  return own[exceeded.name] === exceeded.value ? { limit: exceeded } : {};
}
