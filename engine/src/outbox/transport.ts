import type { ExceededLimit } from '@headwater/shared';
import type { DeliveryErrorClass } from '../contract/index.ts';
import type { ExchangeTimes } from '../egress/index.ts';

/** One durable thing on its way out: a delivery, or the content of a `$.send`. */
export interface OutboxItem {
  id: string;
  accountId: string;
  /** Attempts made before. */
  attemptCount: number;
  /** Why it is attempted, where neither its event nor the schedule is the reason. */
  nextTrigger?: 'manual' | 'replay';
  /** It is a test by its owner, and stored nowhere. */
  isTest?: true;
  /** `wakesLane`: its end may let another of its lane begin. */
  settings?: { retryScheduleSeconds?: readonly number[]; wakesLane?: true };
}

/**
 * A way out. To add one: a folder in transports/ with a function that makes it, and, where steps
 * send by it, a line in transports/send-transports.ts and an item in sends/due-send.ts.
 */
export interface Transport<T> {
  /**
   * Makes one attempt, and says how it ended; the caller decides whether another follows. The
   * signal ends it as `cut-off`, soon. It rejects only where this server is at fault.
   */
  attempt(item: T, signal: AbortSignal): Promise<AttemptOutcome>;
}

/**
 * How an attempt ended.
 * - `delivered`: the receiver has it.
 * - `again`: the retry policy says when, or that this was the last attempt.
 * - `final`: another attempt would end in the same way.
 * - `dropped`: its owner's code does not want it to be sent.
 * - `cut-off`: the node stops. The attempt counts for nothing.
 */
export type AttemptOutcome = { kind: 'delivered' | 'again' | 'final' | 'dropped' | 'cut-off' } & AttemptFacts;

/** The facts that the record of an attempt is made of, as far as its transport knows them. */
export interface AttemptFacts {
  statusCode?: number;
  error?: string | undefined;
  /**
   * The error without anything that was given or answered; absent where nothing of it can be told.
   */
  plain?: string;
  errorClass?: DeliveryErrorClass;
  /** The limit that is the reason of the error. */
  limit?: ExceededLimit | undefined;
  /** The answer's body, as far as it was read. */
  body?: Buffer;
  /** The body is kept in a row of its own, as its record does not have all of it. */
  isBodyKept?: boolean;
  /** Name, value, name, value … */
  responseHeaders?: readonly (Buffer | string)[];
  request?: SentRequest | undefined;
  times?: ExchangeTimes | undefined;
  /** The receiver asks for a pause, in the form of the header. */
  retryAfter?: string | undefined;
  /** The receiver did not answer in time: fewer attempts are made there at the same time. */
  timedOut?: boolean;
}

/** A request as it was sent. */
export interface SentRequest {
  /** Name, value, name, value … */
  headers: readonly string[];
  /** Names in lower case of headers whose values are not recorded. */
  secretNames: ReadonlySet<string>;
  bodyBytes: number;
}

type Told = Pick<AttemptFacts, 'limit' | 'plain' | 'errorClass'>;

export const CUT_OFF = { kind: 'cut-off' } as const;

export const final = (error: string, told: Told = {}): AttemptOutcome => ({ kind: 'final', error, ...told });

export const again = (error: string, told: Told = {}): AttemptOutcome => ({ kind: 'again', error, ...told });

/** For work that no signal can end: it goes on, and its outcome is lost. */
export function orCutOff<T>(work: Promise<T>, signal: AbortSignal): Promise<T | typeof CUT_OFF> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) resolve(CUT_OFF);
    signal.addEventListener('abort', () => resolve(CUT_OFF));
    work.then(resolve, reject);
  });
}
