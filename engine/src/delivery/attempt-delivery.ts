import { type ExceededLimit, LIMITS } from '@headwater/shared';
import type { AttemptRecord } from '../contract.ts';
import type { DeliveryErrorClass } from '../contract-deliveries.ts';
import { describeFailure } from '../egress/describe-failure.ts';
import type { Egress } from '../egress/egress.ts';
import type { Exchange, ExchangeOutcome } from '../egress/exchange.ts';
import { isEgressRefused, limitOf } from '../egress/refusal.ts';
import { startRepeatable, type TakeConnection } from '../egress/repeat-unheard.ts';
import type { TenantConnections } from '../egress/tenant-connections.ts';
import type { Log } from '../log.ts';
import type { Attempt, AttemptEnd } from '../outgoing/sender.ts';
import type { AttemptResult } from '../store/record-attempts.ts';
import { deliveryBody, deliveryHeaders, type RequestParts } from './delivery-request.ts';
import type { DueDelivery } from './due-delivery.ts';
import { classOfFailure, classOfStatus } from './error-class.ts';
import type { SampleInbox } from '../sample-receiver/sample-receiver.ts';
import type { RetryPolicy } from './retry-policy.ts';
import type { SecretKeys } from './secret-keys.ts';

export interface AttemptContext {
  connections: TenantConnections;
  /** How many of one tenant are made at the same time at most, and so its connections. */
  maxAtOnceOf: (accountId: string) => number;
  egress: Pick<Egress, 'checkUrl'>;
  secretKeys: SecretKeys;
  /** Default: there is none, and such deliveries go the way of all others. */
  sampleInbox?: SampleInbox | undefined;
  retryPolicy: RetryPolicy;
  log: Log;
  timeoutMs: number;
}

export type DeliveryEnd = AttemptEnd<AttemptResult>;

/**
 * Signs and sends one delivery. Only a 2xx status is success; redirects are not followed (the signed body goes where the
 * owner said and nowhere else). Once a status has come the attempt is decided, whatever becomes of the body.
 */
export function attemptDelivery(context: AttemptContext, delivery: DueDelivery): Attempt<AttemptResult> {
  const startedAtMs = Date.now();
  let exchange: Exchange;
  try {
    const { sampleInbox } = context;
    if (sampleInbox?.isBelow(delivery.url) === true) return handOver(context, sampleInbox, delivery, startedAtMs);
    exchange = send(context, delivery, startedAtMs);
  } catch (error) {
    const message = describeUnsent(context, delivery, error);
    const end = endWithout(context, delivery, startedAtMs, {
      error: message,
      errorClass: isEgressRefused(error) ? 'refused' : 'internal',
      limit: limitOf(error),
      timedOut: false,
    });
    return { done: Promise.resolve(end), abort: () => undefined };
  }
  return {
    done: exchange.done.then((outcome) => endOf(context, delivery, startedAtMs, outcome)),
    abort: exchange.abort,
  };
}

/**
 * Within the node, without a connection: signed like every delivery, and checked by the sample
 * receiver like by any.
 */
function handOver(
  context: AttemptContext,
  inbox: SampleInbox,
  delivery: DueDelivery,
  startedAtMs: number,
): Attempt<AttemptResult> {
  const { headers, body } = signed(context, delivery, startedAtMs);
  const pairs = headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] ?? ''] as const] : []));
  const aborted = Promise.withResolvers<DeliveryEnd>();
  const received = inbox.receive(delivery, { headers: Object.fromEntries(pairs), body }).then(
    ({ status, text }) => endWith(context, delivery, startedAtMs, { status, rawHeaders: [], body: Buffer.from(text) }),
    (error: unknown) => {
      context.log.warn({ delivery: delivery.id, err: error }, 'the sample receiver could not store a delivery');
      const message = 'The sample receiver could not store it';
      return endWithout(context, delivery, startedAtMs, { error: message, errorClass: 'internal', timedOut: false });
    },
  );
  return {
    done: Promise.race([received, aborted.promise]),
    abort: () => aborted.resolve({ kind: 'cut-off' }),
  };
}

function signed(context: AttemptContext, delivery: DueDelivery, nowMs: number): { headers: string[]; body: Buffer } {
  const body = Buffer.from(deliveryBody(delivery));
  return { headers: deliveryHeaders(delivery, partsOf(context.secretKeys, delivery, nowMs), body, nowMs), body };
}

function send(context: AttemptContext, delivery: DueDelivery, nowMs: number): Exchange {
  const url = new URL(delivery.url);
  context.egress.checkUrl(url);
  const { headers, body } = signed(context, delivery, nowMs);
  // Nothing may throw from here on: the exchange releases it.
  const take: TakeConnection = (fresh) =>
    context.connections.take(delivery.accountId, url.origin, context.maxAtOnceOf(delivery.accountId), fresh);
  // Its `webhook-id` tells a receiver what it has seen before.
  return startRepeatable(take, {
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'POST',
    headers,
    body,
    timeoutMs: timeoutOf(context, delivery),
    maxKeptBytes: LIMITS.maxStoredResponseBytes,
    overflow: { kind: 'cut', maxDrainedBytes: LIMITS.maxDrainedResponseBytes },
  });
}

/** A replaced secret signs as well while receivers may not have the new one. */
function partsOf(
  secretKeys: SecretKeys,
  { accountId, sealedSecret, settings }: DueDelivery,
  nowMs: number,
): RequestParts {
  const { previousSecret, sealedHeaders } = settings ?? {};
  const isOverlap = previousSecret !== undefined && nowMs < previousSecret.untilMs;
  const sealed = isOverlap ? [sealedSecret, previousSecret.sealed] : [sealedSecret];
  return {
    keys: sealed.map((one) => secretKeys.keyOf(accountId, one)),
    ownHeaders: sealedHeaders === undefined ? [] : secretKeys.headersOf(accountId, sealedHeaders),
  };
}

function timeoutOf(context: AttemptContext, { settings }: DueDelivery): number {
  return settings?.timeoutMs ?? context.timeoutMs;
}

/** What kept an attempt from being sent at all: a refused address, or a secret that does not open with the keys of this node. */
function describeUnsent(context: AttemptContext, delivery: DueDelivery, error: unknown): string {
  if ((error as { code?: unknown }).code === 'EGRESS_REFUSED') return (error as Error).message;
  const ids = { webhook: delivery.webhookId, delivery: delivery.id };
  context.log.error({ ...ids, err: error }, 'a delivery could not be signed');
  return 'The delivery could not be signed; the operator of this server has been told';
}

function endOf(
  context: AttemptContext,
  delivery: DueDelivery,
  startedAtMs: number,
  outcome: ExchangeOutcome,
): DeliveryEnd {
  switch (outcome.kind) {
    case 'aborted':
      return { kind: 'cut-off' };
    case 'timeout':
      return endWithout(
        context,
        delivery,
        startedAtMs,
        failTimeout(timeoutOf(context, delivery), Date.now() - startedAtMs),
      );
    // Neither happens where answers are cut.
    case 'too-large':
    case 'over-budget':
      return endWithout(context, delivery, startedAtMs, {
        error: 'The answer is too large',
        errorClass: 'connection',
        timedOut: false,
      });
    case 'error':
      return endWithout(context, delivery, startedAtMs, {
        error: describeFailure(hostOf(delivery), outcome.error),
        errorClass: classOfFailure(outcome.error, isConnectTimeout(outcome.error)),
        limit: limitOf(outcome.error),
        timedOut: isConnectTimeout(outcome.error),
      });
    case 'response':
      return endWith(context, delivery, startedAtMs, outcome);
  }
}

function endWith(
  context: AttemptContext,
  delivery: DueDelivery,
  startedAtMs: number,
  response: Pick<Extract<ExchangeOutcome, { kind: 'response' }>, 'status' | 'rawHeaders' | 'body'>,
): DeliveryEnd {
  const text = responseText(response.body);
  const attempt: AttemptRecord = {
    at: new Date(startedAtMs).toISOString(),
    status_code: response.status,
    duration_ms: Date.now() - startedAtMs,
    ...(text === '' ? {} : { response: text }),
  };
  const base = { webhookId: delivery.webhookId, deliveryId: delivery.id, attempt };
  if (response.status >= 200 && response.status <= 299) {
    return { kind: 'made', result: { ...base, status: 'delivered' }, timedOut: false };
  }
  const retryAfter = headerOf(response.rawHeaders, 'retry-after');
  const errorClass = classOfStatus(response.status);
  const result = { ...base, errorClass, ...decide(context, delivery, attempt, retryAfter) };
  return { kind: 'made', result, timedOut: false };
}

interface Failure {
  error: string;
  errorClass: DeliveryErrorClass;
  limit?: ExceededLimit | undefined;
  timedOut: boolean;
}

function failTimeout(value: number, usedMs: number): Failure {
  const limit: ExceededLimit = { name: 'deliveryTimeoutMs', value, used: Math.max(value, usedMs) };
  return { error: `No answer within ${value} ms`, errorClass: 'timeout', limit, timedOut: true };
}

function endWithout(
  context: AttemptContext,
  delivery: DueDelivery,
  startedAtMs: number,
  { error, errorClass, limit, timedOut }: Failure,
): DeliveryEnd {
  const attempt: AttemptRecord = {
    at: new Date(startedAtMs).toISOString(),
    error,
    ...(limit === undefined ? {} : { limit }),
    duration_ms: Date.now() - startedAtMs,
  };
  const base = { webhookId: delivery.webhookId, deliveryId: delivery.id, attempt, errorClass };
  return { kind: 'made', result: { ...base, ...decide(context, delivery, attempt) }, timedOut };
}

function decide(
  context: AttemptContext,
  delivery: DueDelivery,
  attempt: AttemptRecord,
  retryAfter?: string,
): { status: 'failed' } | { status: 'pending'; nextAttemptAtMs: number } {
  const scheduleSeconds = delivery.settings?.retryScheduleSeconds;
  const decision = context.retryPolicy({
    number: delivery.attemptCount + 1,
    ...(attempt.status_code === undefined ? {} : { statusCode: attempt.status_code }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(scheduleSeconds === undefined ? {} : { scheduleSeconds }),
    endedAtMs: Date.now(),
  });
  return decision.kind === 'give-up' ? { status: 'failed' } : { status: 'pending', nextAttemptAtMs: decision.atMs };
}

// NUL is valid in UTF-8, and jsonb refuses it: the whole batch would fail for one receiver's odd answer.
function responseText(body: Buffer): string {
  return body.length === 0 ? '' : body.toString('utf8').replaceAll('\0', '\ufffd');
}

function headerOf(raw: readonly (Buffer | string)[], name: string): string | undefined {
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if (String(raw[i]).toLowerCase() === name) return String(raw[i + 1]);
  }
  return undefined;
}

function hostOf(delivery: DueDelivery): string {
  return new URL(delivery.url).host;
}

function isConnectTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'UND_ERR_CONNECT_TIMEOUT';
}
