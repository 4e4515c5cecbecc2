/** What became of one attempt. `again`: the retry policy says when, or that it was the last. */
export type SendOutcome = Partial<{
  statusCode: number;
  error: string;
  /** The beginning of what the receiver answered. */
  response: string;
  retryAfter: string;
  timedOut: boolean;
}> & { kind: 'delivered' | 'final' | 'again' | 'cut-off' };

export const final = (error: string): SendOutcome => ({ kind: 'final', error });

export const again = (error: string): SendOutcome => ({ kind: 'again', error });
