import { type ExceededLimit, LIMITS } from '@headwater/shared';
import type { DeliveryAttempt, DeliveryErrorClass } from '../../../contract/deliveries.ts';
import type { WebhookAuth } from '../../../contract/webhook-requests.ts';
import { describeFailure } from '../../../egress/describe-failure.ts';
import type { Egress } from '../../../egress/egress.ts';
import type { Exchange, ExchangeOutcome } from '../../../egress/exchange.ts';
import type { ExchangeTimes } from '../../../egress/exchange-times.ts';
import { isEgressRefused, limitOf } from '../../../egress/refusal.ts';
import { startRepeatable, type TakeConnection } from '../../../egress/repeat-unheard.ts';
import type { TenantConnections } from '../../../egress/tenant-connections.ts';
import type { Log } from '../../../contract/log.ts';
import type { Attempt, AttemptEnd } from '../../sender.ts';
import type { AttemptResult } from '../../deliveries/record-attempts.sql.ts';
import { attemptRecord, isKeptApart, type SentRequest } from '../../attempt-record.ts';
import type { AccessTokens, ClientCredentials } from './access-tokens.ts';
import { deliveryContent } from './delivery-content.ts';
import { deliveryHeaders, type RequestParts } from './delivery-request.ts';
import { describeRefusal } from './describe-refusal.ts';
import type { DueDelivery } from '../../deliveries/due-delivery.ts';
import { classOfFailure, classOfStatus } from '../../error-class.ts';
import type { Inbox } from './inbox.ts';
import type { RetryPolicy } from '../../retry-policy.ts';
import type { RunTransform } from '../../transforms/transform.ts';
import type { TransformResult } from '../../transforms/transform-request.ts';
import type { SecretKeys } from '../../webhooks/secret-keys.ts';

const UNAUTHORIZED = 401;
const DROPPED = 'The transform dropped it';

export interface AttemptContext {
  connections: TenantConnections;
  /** How many of one tenant are made at the same time at most, and so its connections. */
  maxAtOnceOf: (accountId: string) => number;
  egress: Pick<Egress, 'checkUrl'>;
  secretKeys: SecretKeys;
  tokens: AccessTokens;
  /** Default: there is none, and such deliveries go the way of all others. */
  inbox?: Inbox | undefined;
  /** Default: this node runs no transforms, and what has one is not sent. */
  transform?: RunTransform | undefined;
  retryPolicy: RetryPolicy;
  log: Log;
  timeoutMs: number;
}

export type DeliveryEnd = AttemptEnd<AttemptResult>;

/** The facts of an attempt that are known from its beginning on. */
interface Begun {
  context: AttemptContext;
  delivery: DueDelivery;
  startedAtMs: number;
  /** The request that its transform has made. */
  transformed?: Extract<TransformResult, { kind: 'sent' }>;
  /** Absent where the request could not be made. */
  request?: SentRequest;
}

/**
 * Signs and sends one delivery. Only a 2xx status is success; redirects are not followed (the
 * signed body goes where the owner said and nowhere else). Once a status has come the attempt is
 * decided, whatever becomes of the body.
 */
export function attemptDelivery(context: AttemptContext, delivery: DueDelivery): Attempt<AttemptResult> {
  const begun: Begun = { context, delivery, startedAtMs: Date.now() };
  const transformId = delivery.settings?.transformId;
  return transformId === undefined ? sendNow(begun) : transformAndSend(begun, transformId);
}

/** The changed request is signed, checked by the guard and sent as any other. */
function transformAndSend(begun: Begun, componentId: string): Attempt<AttemptResult> {
  const { context, delivery } = begun;
  const { transform } = context;
  const stopping = new AbortController();
  let sent: Attempt<AttemptResult> | undefined;
  const fail = (error: string, limit?: ExceededLimit) =>
    endWithout(begun, { error, errorClass: 'transform', limit, timedOut: false });

  async function run(): Promise<DeliveryEnd> {
    if (transform === undefined) return fail('This node runs no transforms');
    const { result } = await transform(delivery, { componentId }, stopping.signal);
    switch (result.kind) {
      case 'stopped':
        return { kind: 'cut-off' };
      case 'failed':
        return fail(result.error, result.limit);
      case 'dropped':
        return endDropped(begun, result.reason);
      case 'sent':
        sent = sendNow({ ...begun, delivery: { ...delivery, url: result.url }, transformed: result });
        return sent.done;
    }
  }

  return {
    done: run(),
    abort() {
      stopping.abort();
      sent?.abort();
    },
  };
}

function sendNow(begun: Begun): Attempt<AttemptResult> {
  const { context, delivery } = begun;
  let exchange: Exchange;
  try {
    const { inbox } = context;
    if (inbox?.isBelow(delivery.url) === true) return handOver(begun, inbox);
    const auth = authOf(context, delivery);
    if (auth?.type === 'oauth2_client_credentials') return sendWithToken(begun, auth);
    exchange = send(begun, authorizationOf(auth));
  } catch (error) {
    return { done: Promise.resolve(endUnsent(begun, error)), abort: () => undefined };
  }
  return {
    done: exchange.done.then((outcome) => endOf(begun, outcome, exchange.times())),
    abort: exchange.abort,
  };
}

function authOf({ secretKeys }: AttemptContext, { accountId, settings }: DueDelivery): WebhookAuth | undefined {
  return settings?.sealedAuth === undefined ? undefined : secretKeys.authOf(accountId, settings.sealedAuth);
}

function authorizationOf(auth: Exclude<WebhookAuth, ClientCredentials> | undefined): string | undefined {
  if (auth === undefined) return undefined;
  if (auth.type === 'bearer') return `Bearer ${auth.token}`;
  return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
}

/**
 * If the receiver refuses a token that was good before, ask for another one, once.
 */
function sendWithToken(begun: Begun, credentials: ClientCredentials): Attempt<AttemptResult> {
  const { context, delivery, startedAtMs } = begun;
  const { accountId, webhookId, settings } = delivery;
  const key = `${webhookId} ${settings?.sealedAuth}`;
  const timeoutMs = timeoutOf(context, delivery);
  const aborted = Promise.withResolvers<DeliveryEnd>();
  let exchange: Exchange | undefined;
  let isAborted = false;

  async function run(refused?: string): Promise<DeliveryEnd> {
    const result = await context.tokens.get(key, { accountId, credentials, timeoutMs }, refused);
    if (isAborted) return { kind: 'cut-off' };
    if (!result.ok) return endWithout(begun, { error: result.error, errorClass: 'internal', timedOut: false });
    const leftMs = Math.max(1, timeoutMs - (Date.now() - startedAtMs));
    exchange = send(begun, `Bearer ${result.token}`, leftMs);
    const outcome = await exchange.done;
    const isRefused = outcome.kind === 'response' && outcome.status === UNAUTHORIZED;
    if (isRefused && !result.isNew && refused === undefined) return run(result.token);
    return endOf(begun, outcome, exchange.times());
  }

  return {
    done: Promise.race([run().catch((error: unknown) => endUnsent(begun, error)), aborted.promise]),
    abort() {
      isAborted = true;
      exchange?.abort();
      aborted.resolve({ kind: 'cut-off' });
    },
  };
}

/**
 * Within the node, without a connection: signed like every delivery, and checked by the receiver
 * like by any.
 */
function handOver(begun: Begun, inbox: Inbox): Attempt<AttemptResult> {
  const { context, delivery } = begun;
  const { headers, body } = signed(begun);
  const pairs = headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] ?? ''] as const] : []));
  const aborted = Promise.withResolvers<DeliveryEnd>();
  const request = { headers: Object.fromEntries(pairs), body };
  const received = inbox.receive(delivery, request, timeoutOf(context, delivery)).then(
    (outcome) => {
      if ('error' in outcome) return endWithout(begun, { ...outcome, timedOut: outcome.errorClass === 'timeout' });
      const rawHeaders = Object.entries(outcome.headers ?? {}).flat();
      return endWith(begun, { status: outcome.status, rawHeaders, body: Buffer.from(outcome.text) });
    },
    (error: unknown) => {
      context.log.warn({ delivery: delivery.id, err: error }, 'a delivery could not be handed over within the node');
      const message = 'The server could not hand it over';
      return endWithout(begun, { error: message, errorClass: 'internal', timedOut: false });
    },
  );
  return {
    done: Promise.race([received, aborted.promise]),
    abort: () => aborted.resolve({ kind: 'cut-off' }),
  };
}

function signed(begun: Begun, authorization?: string): { headers: string[]; body: Buffer } {
  const { context, delivery, startedAtMs } = begun;
  const content = deliveryContent(delivery);
  const { transformed } = begun;
  const body = Buffer.from(transformed?.request.body ?? content.body);
  const changedHeaders = transformed?.changedHeaders;
  const parts = { ...partsOf(context.secretKeys, delivery, startedAtMs), authorization, changedHeaders };
  const headers = deliveryHeaders(delivery, parts, { ...content, body }, startedAtMs);
  begun.request = { headers, secretNames: new Set(['authorization', ...parts.ownHeaders.map(([name]) => name)]) };
  return { headers, body };
}

function send(begun: Begun, authorization?: string, timeoutMs = timeoutOf(begun.context, begun.delivery)): Exchange {
  const { context, delivery } = begun;
  const { accountId, settings } = delivery;
  const url = new URL(delivery.url);
  context.egress.checkUrl(url);
  const { headers, body } = signed(begun, authorization);
  const tls = settings === undefined ? undefined : context.secretKeys.tlsOf(accountId, settings);
  // Nothing may throw from here on: the exchange releases it.
  const take: TakeConnection = (fresh) =>
    context.connections.take(accountId, { origin: url.origin, tls }, context.maxAtOnceOf(accountId), fresh);
  // Its `webhook-id` tells a receiver what it has seen before.
  return startRepeatable(take, {
    origin: url.origin,
    path: url.pathname + url.search,
    method: begun.transformed?.request.method ?? settings?.options?.method ?? 'POST',
    headers,
    body,
    timeoutMs,
    maxKeptBytes: LIMITS.maxDeliveryResponseBytes,
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

function endUnsent(begun: Begun, error: unknown): DeliveryEnd {
  return endWithout(begun, {
    error: describeUnsent(begun.context, begun.delivery, error),
    errorClass: isEgressRefused(error) ? 'refused' : 'internal',
    limit: limitOf(error),
    timedOut: false,
  });
}

/**
 * What kept an attempt from being sent at all: a refused address, or a secret that does not open
 * with the keys of this node.
 */
function describeUnsent(context: AttemptContext, delivery: DueDelivery, error: unknown): string {
  if ((error as { code?: unknown }).code === 'EGRESS_REFUSED') return (error as Error).message;
  const ids = { webhook: delivery.webhookId, delivery: delivery.id };
  context.log.error({ ...ids, err: error }, 'a delivery could not be signed');
  return 'The delivery could not be signed; the operator of this server has been told';
}

function endOf(begun: Begun, outcome: ExchangeOutcome, times: ExchangeTimes): DeliveryEnd {
  const { context, delivery, startedAtMs } = begun;
  switch (outcome.kind) {
    case 'aborted':
      return { kind: 'cut-off' };
    case 'timeout':
      return endWithout(begun, failTimeout(timeoutOf(context, delivery), Date.now() - startedAtMs), times);
    // Neither happens where answers are cut.
    case 'too-large':
    case 'over-budget': {
      const failure = { error: 'The answer is too large', errorClass: 'connection', timedOut: false } as const;
      return endWithout(begun, failure, times);
    }
    case 'error': {
      const timedOut = isConnectTimeout(outcome.error);
      const failed = describeRefusal(hostOf(delivery), outcome.error) ?? {
        error: describeFailure(hostOf(delivery), outcome.error),
        errorClass: classOfFailure(outcome.error, timedOut),
      };
      return endWithout(begun, { ...failed, limit: limitOf(outcome.error), timedOut }, times);
    }
    case 'response':
      return endWith(begun, outcome, times);
  }
}

function endWith(
  begun: Begun,
  answer: Pick<Extract<ExchangeOutcome, { kind: 'response' }>, 'status' | 'rawHeaders' | 'body'>,
  times?: ExchangeTimes,
): DeliveryEnd {
  const { delivery, startedAtMs, request } = begun;
  const { status, body } = answer;
  const isSuccess = status >= 200 && status <= 299;
  const errorClass = isSuccess ? undefined : classOfStatus(status);
  const endedAtMs = Date.now();
  const attempt = attemptRecord(delivery, { startedAtMs, endedAtMs, request, times, answer, errorClass });
  const base = {
    accountId: delivery.accountId,
    webhookId: delivery.webhookId,
    deliveryId: delivery.id,
    ...(isKeptApart(body) ? { response: { atMs: startedAtMs, body } } : {}),
  };
  if (errorClass === undefined) {
    const wasFailing = delivery.settings?.isFailing === true ? { wasFailing: true as const } : {};
    return { kind: 'made', result: { ...base, ...wasFailing, attempt, status: 'delivered' }, timedOut: false };
  }
  const retryAfter = headerOf(answer.rawHeaders, 'retry-after');
  return { kind: 'made', result: { ...base, errorClass, ...decide(begun, attempt, retryAfter) }, timedOut: false };
}

/** Nothing was sent, and nothing will be. */
function endDropped({ delivery, startedAtMs }: Begun, reason: string): DeliveryEnd {
  const error = reason === '' ? DROPPED : `${DROPPED}: ${reason}`;
  const made = attemptRecord(delivery, { startedAtMs, endedAtMs: Date.now(), error });
  const attempt = { ...made, dropped: true as const };
  const { accountId, webhookId, id: deliveryId } = delivery;
  const result = { accountId, webhookId, deliveryId, attempt, status: 'dropped' } as const;
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

function endWithout(begun: Begun, { timedOut, ...failure }: Failure, times?: ExchangeTimes): DeliveryEnd {
  const { delivery, startedAtMs, request } = begun;
  const attempt = attemptRecord(delivery, { startedAtMs, endedAtMs: Date.now(), request, times, ...failure });
  const { accountId, webhookId, id: deliveryId } = delivery;
  const base = { accountId, webhookId, deliveryId, errorClass: failure.errorClass };
  return { kind: 'made', result: { ...base, ...decide(begun, attempt) }, timedOut };
}

type Decision = { attempt: DeliveryAttempt; putOffUntilMs?: number } & (
  | { status: 'failed' }
  | { status: 'pending'; nextAttemptAtMs: number }
);

function decide({ context, delivery }: Begun, attempt: DeliveryAttempt, retryAfter?: string): Decision {
  const scheduleSeconds = delivery.settings?.retryScheduleSeconds;
  const decision = context.retryPolicy({
    number: delivery.attemptCount + 1,
    ...(attempt.status_code === undefined ? {} : { statusCode: attempt.status_code }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(scheduleSeconds === undefined ? {} : { scheduleSeconds }),
    endedAtMs: Date.now(),
  });
  const { putOffUntilMs } = decision;
  const putOff = putOffUntilMs === undefined ? {} : { putOffUntilMs };
  if (decision.kind === 'give-up' || delivery.isTest) return { attempt, ...putOff, status: 'failed' };
  const nextAttemptAtMs = decision.atMs;
  attempt.next_attempt_at = new Date(nextAttemptAtMs).toISOString();
  return { attempt, ...putOff, status: 'pending', nextAttemptAtMs };
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
