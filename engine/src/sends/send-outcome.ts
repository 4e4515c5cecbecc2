import type { AccountLimits, ExceededLimit } from '@headwater/shared';

/** What became of one attempt. `again`: the retry policy says when, or that it was the last. */
export type SendOutcome = Partial<{
  statusCode: number;
  error: string;
  /** The limit of the account that is the reason. */
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

/** Some limits of what is sent are the platform's, whatever the account may have. */
export function limitOf(limits: AccountLimits, exceeded: ExceededLimit | undefined): { limit?: ExceededLimit } {
  if (exceeded === undefined) return {};
  const own: Partial<Record<ExceededLimit['name'], number>> = limits;
  return own[exceeded.name] === exceeded.value ? { limit: exceeded } : {};
}
