import { type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';

/** What became of one attempt. `again`: the retry policy says when, or that it was the last. */
export type SendOutcome = Partial<{
  statusCode: number;
  error: string;
  /** The limit that is the reason. */
  limit: ExceededLimit;
  /** The beginning of what the receiver answered. */
  response: string;
  retryAfter: string;
  timedOut: boolean;
}> & { kind: 'delivered' | 'final' | 'again' | 'cut-off' };

export const final = (error: string, limit: { limit?: ExceededLimit } = {}): SendOutcome => ({
  kind: 'final',
  error,
  ...limit,
});

export const again = (error: string): SendOutcome => ({ kind: 'again', error });

/** Where a value of the platform stands in for the account's (`sendTimeoutMs`), the limit by that name is another. */
export function limitOf(limits: AccountLimits, exceeded: ExceededLimit | undefined): { limit?: ExceededLimit } {
  if (exceeded === undefined) return {};
  const own: Partial<Record<ExceededLimit['name'], number>> = { ...LIMITS, ...limits };
  return own[exceeded.name] === exceeded.value ? { limit: exceeded } : {};
}
