import type { DeliveryAttempt, DeliveryErrorClass, Log } from '../contract/index.ts';
import { attemptRecord } from './attempt-record.ts';
import type { RetryPolicy } from './retry-policy.ts';
import type { Attempt, AttemptEnd } from './sender.ts';
import { again, type AttemptOutcome, type OutboxItem, type Transport } from './transport.ts';

export interface AttemptContext {
  retryPolicy: RetryPolicy;
  log: Log;
}

/** The result of an attempt, as it is recorded. */
export type AttemptResult<T = OutboxItem> = {
  item: T;
  attempt: DeliveryAttempt;
  /** Bodies of the request, and of the answer as far as it was read. */
  bytes?: { sent: number; received: number };
  /** How it failed; absent where it did not. */
  errorClass?: DeliveryErrorClass;
  /** The whole answer, if the attempt's record has not all of it. */
  response?: { atMs: number; body: Buffer };
  /** Its receiver asked to be sent nothing before. */
  putOffUntilMs?: number;
} & AfterAttempt;

/** The state of the item after it. `nextAttemptAtMs` is in epoch milliseconds. */
export type AfterAttempt =
  | { status: 'pending'; nextAttemptAtMs: number }
  | { status: 'delivered' | 'failed' | 'dropped' };

const NOT_MADE = 'It could not be sent; the operator of this server has been told';

/**
 * The story of one attempt, whatever goes out by whichever transport:
 *
 * 1. The transport prepares it: it reads settings, opens secrets, runs a transform, signs.
 * 2. It sends, and says how that ended. What it throws is this server's fault: the item waits.
 * 3. The outcome becomes the attempt's record. The retry policy decides what follows it.
 * 4. The drain records both with the end of the lease (drain.ts). Until then nothing is durable,
 *    and a crash leads to the same attempt once more.
 */
export function startAttempt<T extends OutboxItem>(
  context: AttemptContext,
  transport: Transport<T>,
  item: T,
): Attempt<AttemptResult<T>> {
  const startedAtMs = Date.now();
  const cutOff = new AbortController();
  const done = transport.attempt(item, cutOff.signal).then(
    (outcome) => endOf(context, item, startedAtMs, outcome),
    (err: unknown) => {
      context.log.error({ err, item: item.id }, 'an attempt could not be made');
      return endOf(context, item, startedAtMs, again(NOT_MADE, { errorClass: 'internal' }));
    },
  );
  return { done, abort: () => cutOff.abort() };
}

function endOf<T extends OutboxItem>(
  { retryPolicy }: AttemptContext,
  item: T,
  startedAtMs: number,
  outcome: AttemptOutcome,
): AttemptEnd<AttemptResult<T>> {
  const { kind, errorClass, body, isBodyKept, timedOut = false } = outcome;
  if (kind === 'cut-off') return { kind };
  const endedAtMs = Date.now();
  const attempt = attemptRecord(item, { ...outcome, startedAtMs, endedAtMs });
  const after = afterAttempt(retryPolicy, item, outcome, endedAtMs);
  if (after.status === 'pending') attempt.next_attempt_at = new Date(after.nextAttemptAtMs).toISOString();
  const result: AttemptResult<T> = {
    item,
    attempt,
    bytes: { sent: outcome.request?.bodyBytes ?? 0, received: body?.length ?? 0 },
    ...(errorClass === undefined ? {} : { errorClass }),
    ...(isBodyKept === true && body !== undefined ? { response: { atMs: startedAtMs, body } } : {}),
    ...after,
  };
  // A fault of this server says nothing of the receiver.
  const isSuccess = errorClass === 'internal' || kind === 'dropped' ? undefined : kind === 'delivered';
  return { kind: 'made', result, timedOut, isSuccess };
}

function afterAttempt(
  retryPolicy: RetryPolicy,
  { attemptCount, settings, isTest }: OutboxItem,
  { kind, statusCode, retryAfter }: AttemptOutcome,
  endedAtMs: number,
): AfterAttempt & { putOffUntilMs?: number } {
  if (kind === 'delivered' || kind === 'dropped') return { status: kind };
  if (kind !== 'again') return { status: 'failed' };
  const scheduleSeconds = settings?.retryScheduleSeconds;
  const { putOffUntilMs, ...decision } = retryPolicy({
    number: attemptCount + 1,
    endedAtMs,
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(scheduleSeconds === undefined ? {} : { scheduleSeconds }),
  });
  const putOff = putOffUntilMs === undefined ? {} : { putOffUntilMs };
  if (decision.kind === 'give-up' || isTest === true) return { ...putOff, status: 'failed' };
  return { ...putOff, status: 'pending', nextAttemptAtMs: decision.atMs };
}
