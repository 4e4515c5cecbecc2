import { type ExceededLimit, LIMITS } from '@headwater/shared';
import type { DeliveryErrorClass, Log, WebhookAuth } from '../../../contract/index.ts';
import {
  describeFailure,
  type Egress,
  type Exchange,
  type ExchangeOutcome,
  type ExchangeTimes,
  isEgressRefused,
  limitOf,
  startRepeatable,
  type TakeConnection,
  type TenantConnections,
} from '../../../egress/index.ts';
import { isKeptApart } from '../../attempt-record.ts';
import type { DueDelivery } from '../../deliveries/due-delivery.ts';
import { classOfFailure, classOfStatus } from '../../error-class.ts';
import { type AttemptOutcome, CUT_OFF, orCutOff, type SentRequest, type Transport } from '../../transport.ts';
import type { RunTransform } from '../../transforms/transform.ts';
import type { TransformResult } from '../../transforms/transform-request.ts';
import type { SecretKeys } from '../../webhooks/secret-keys.ts';
import type { AccessTokens, ClientCredentials } from './access-tokens.ts';
import { deliveryContent } from './delivery-content.ts';
import { deliveryHeaders, type RequestParts } from './delivery-request.ts';
import { describeRefusal } from './describe-refusal.ts';
import type { Inbox } from './inbox.ts';

const UNAUTHORIZED = 401;
const DROPPED = 'The transform dropped it';

export interface WebhookTransportParts {
  connections: TenantConnections;
  /** How many of one tenant are made at the same time at most, and so its connections. */
  maxAtOnceOf: (accountId: string) => number;
  egress: Pick<Egress, 'checkUrl'>;
  secretKeys: SecretKeys;
  tokens: AccessTokens;
  /** Default: there is none, and such deliveries go the way of all others. */
  inbox?: Inbox | undefined;
  /**
   * Headers that name the trace of a delivery; undefined: its account wants none. Default: none.
   */
  traceHeaders?: ((delivery: DueDelivery) => Promise<TraceHeaders> | undefined) | undefined;
  /** Default: this node runs no transforms, and what has one is not sent. */
  transform?: RunTransform | undefined;
  log: Log;
  timeoutMs: number;
}

/** The facts of an attempt that are known from its beginning on. */
interface Begun {
  parts: WebhookTransportParts;
  delivery: DueDelivery;
  signal: AbortSignal;
  startedAtMs: number;
  /** The request that its transform has made. */
  transformed?: Extract<TransformResult, { kind: 'sent' }>;
  traceHeaders?: TraceHeaders;
  /** Absent where the request could not be made. */
  request?: SentRequest;
}

type TraceHeaders = RequestParts['ownHeaders'];

/**
 * Signs and sends a delivery. Only a 2xx status is success; redirects are not followed (the signed
 * body goes where the owner said and nowhere else). Once a status has come the attempt is decided,
 * whatever becomes of the body.
 */
export function createWebhookTransport(parts: WebhookTransportParts): Transport<DueDelivery> {
  return {
    attempt(delivery, signal) {
      const begun: Begun = { parts, delivery, signal, startedAtMs: Date.now() };
      const headers = parts.traceHeaders?.(delivery);
      return headers === undefined ? begin(begun) : headers.then((traceHeaders) => begin({ ...begun, traceHeaders }));
    },
  };
}

function begin(begun: Begun): Promise<AttemptOutcome> {
  const transformId = begun.delivery.settings?.transformId;
  return transformId === undefined ? send(begun) : transformAndSend(begun, transformId);
}

/** The changed request is signed, checked by the guard and sent as any other. */
async function transformAndSend(begun: Begun, componentId: string): Promise<AttemptOutcome> {
  const { parts, delivery, signal } = begun;
  const fail = (error: string, limit?: ExceededLimit) => failed(begun, { error, errorClass: 'transform', limit });
  if (parts.transform === undefined) return fail('This node runs no transforms');
  const { result } = await parts.transform(delivery, { componentId }, signal);
  switch (result.kind) {
    case 'stopped':
      return CUT_OFF;
    case 'failed':
      return fail(result.error, result.limit);
    case 'dropped':
      return { kind: 'dropped', error: result.reason === '' ? DROPPED : `${DROPPED}: ${result.reason}` };
    case 'sent':
      return send({ ...begun, delivery: { ...delivery, url: result.url }, transformed: result });
  }
}

async function send(begun: Begun): Promise<AttemptOutcome> {
  const { parts, delivery, signal } = begun;
  try {
    if (signal.aborted) return CUT_OFF;
    const { inbox } = parts;
    if (inbox?.isBelow(delivery.url) === true) return await orCutOff(handOver(begun, inbox), signal);
    const auth = authOf(parts, delivery);
    if (auth?.type === 'oauth2_client_credentials') return await sendWithToken(begun, auth);
    const exchange = startRequest(begun, authorizationOf(auth));
    return outcomeOf(begun, await exchange.done, exchange.times());
  } catch (error) {
    return unsent(begun, error);
  }
}

function authOf({ secretKeys }: WebhookTransportParts, { accountId, settings }: DueDelivery): WebhookAuth | undefined {
  return settings?.sealedAuth === undefined ? undefined : secretKeys.authOf(accountId, settings.sealedAuth);
}

function authorizationOf(auth: Exclude<WebhookAuth, ClientCredentials> | undefined): string | undefined {
  if (auth === undefined) return undefined;
  if (auth.type === 'bearer') return `Bearer ${auth.token}`;
  return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
}

/** If the receiver refuses a token that was good before, ask for another one, once. */
async function sendWithToken(begun: Begun, credentials: ClientCredentials, refused?: string): Promise<AttemptOutcome> {
  const { parts, delivery, signal, startedAtMs } = begun;
  const { accountId, webhookId, settings } = delivery;
  const key = `${webhookId} ${settings?.sealedAuth}`;
  const timeoutMs = timeoutOf(parts, delivery);
  const asked = parts.tokens.get(key, { accountId, credentials, timeoutMs }, refused);
  const result = await orCutOff(asked, signal);
  if ('kind' in result) return result;
  if (!result.ok) return failed(begun, { error: result.error, errorClass: 'internal' });
  const leftMs = Math.max(1, timeoutMs - (Date.now() - startedAtMs));
  const exchange = startRequest(begun, `Bearer ${result.token}`, leftMs);
  const outcome = await exchange.done;
  const isRefused = outcome.kind === 'response' && outcome.status === UNAUTHORIZED;
  if (isRefused && !result.isNew && refused === undefined) return sendWithToken(begun, credentials, result.token);
  return outcomeOf(begun, outcome, exchange.times());
}

/**
 * Within the node, without a connection: signed like every delivery, and checked by the receiver
 * like by any.
 */
async function handOver(begun: Begun, inbox: Inbox): Promise<AttemptOutcome> {
  const { parts, delivery } = begun;
  const { headers, body } = signed(begun);
  const pairs = headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] ?? ''] as const] : []));
  const request = { headers: Object.fromEntries(pairs), body };
  try {
    const received = await inbox.receive(delivery, request, timeoutOf(parts, delivery));
    if ('error' in received) return failed(begun, { ...received, timedOut: received.errorClass === 'timeout' });
    const rawHeaders = Object.entries(received.headers ?? {}).flat();
    return answered(begun, { status: received.status, rawHeaders, body: Buffer.from(received.text) });
  } catch (err) {
    parts.log.warn({ delivery: delivery.id, err }, 'a delivery could not be handed over within the node');
    return failed(begun, { error: 'The server could not hand it over', errorClass: 'internal' });
  }
}

function signed(begun: Begun, authorization?: string): { headers: string[]; body: Buffer } {
  const { parts, delivery, startedAtMs, transformed, traceHeaders } = begun;
  const content = deliveryContent(delivery);
  const body = Buffer.from(transformed?.request.body ?? content.body);
  const changedHeaders = transformed?.changedHeaders;
  const requestParts = {
    ...partsOf(parts.secretKeys, delivery, startedAtMs),
    authorization,
    changedHeaders,
    traceHeaders,
  };
  const headers = deliveryHeaders(delivery, requestParts, { ...content, body }, startedAtMs);
  const secretNames = new Set(['authorization', ...requestParts.ownHeaders.map(([name]) => name)]);
  begun.request = { headers, secretNames, bodyBytes: body.length };
  return { headers, body };
}

/** The signal ends it. */
function startRequest(
  begun: Begun,
  authorization?: string,
  timeoutMs = timeoutOf(begun.parts, begun.delivery),
): Exchange {
  const { parts, delivery, signal } = begun;
  const { accountId, settings } = delivery;
  const url = new URL(delivery.url);
  parts.egress.checkUrl(url);
  const { headers, body } = signed(begun, authorization);
  const tls = settings === undefined ? undefined : parts.secretKeys.tlsOf(accountId, settings);
  // Nothing may throw from here on: the exchange releases it.
  const take: TakeConnection = (fresh) =>
    parts.connections.take(accountId, { origin: url.origin, tls }, parts.maxAtOnceOf(accountId), fresh);
  // Its `webhook-id` tells a receiver what it has seen before.
  const exchange = startRepeatable(take, {
    origin: url.origin,
    path: url.pathname + url.search,
    method: begun.transformed?.request.method ?? settings?.options?.method ?? 'POST',
    headers,
    body,
    timeoutMs,
    maxKeptBytes: LIMITS.maxDeliveryResponseBytes,
    overflow: { kind: 'cut', maxDrainedBytes: LIMITS.maxDrainedResponseBytes },
  });
  signal.addEventListener('abort', exchange.abort);
  return exchange;
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

function timeoutOf(parts: WebhookTransportParts, { settings }: DueDelivery): number {
  return settings?.timeoutMs ?? parts.timeoutMs;
}

function outcomeOf(begun: Begun, outcome: ExchangeOutcome, times: ExchangeTimes): AttemptOutcome {
  const { parts, delivery, startedAtMs } = begun;
  switch (outcome.kind) {
    case 'aborted':
      return CUT_OFF;
    case 'timeout':
      return failed(begun, { ...timeout(timeoutOf(parts, delivery), Date.now() - startedAtMs), times });
    // Neither happens where answers are cut.
    case 'too-large':
    case 'over-budget':
      return failed(begun, { error: 'The answer is too large', errorClass: 'connection', times });
    case 'error': {
      const timedOut = isConnectTimeout(outcome.error);
      const host = new URL(delivery.url).host;
      const failure = describeRefusal(host, outcome.error) ?? {
        error: describeFailure(host, outcome.error),
        errorClass: classOfFailure(outcome.error, timedOut),
      };
      return failed(begun, { ...failure, limit: limitOf(outcome.error), timedOut, times });
    }
    case 'response':
      return answered(begun, outcome, times);
  }
}

interface Answer {
  status: number;
  rawHeaders: readonly (Buffer | string)[];
  body: Buffer;
}

function answered({ request }: Begun, { status, rawHeaders, body }: Answer, times?: ExchangeTimes): AttemptOutcome {
  const seen = { statusCode: status, responseHeaders: rawHeaders, body, isBodyKept: isKeptApart(body), request, times };
  if (status >= 200 && status <= 299) return { kind: 'delivered', ...seen };
  const retryAfter = headerOf(rawHeaders, 'retry-after');
  return { kind: 'again', ...seen, errorClass: classOfStatus(status), retryAfter };
}

interface Failure {
  error: string;
  errorClass: DeliveryErrorClass;
  limit?: ExceededLimit | undefined;
  timedOut?: boolean;
  times?: ExchangeTimes;
}

/** Without an answer: tried again, as what keeps it from arriving may be mended. */
function failed({ request }: Begun, failure: Failure): AttemptOutcome {
  return { kind: 'again', ...failure, request };
}

function timeout(value: number, usedMs: number): Failure {
  const limit: ExceededLimit = { name: 'deliveryTimeoutMs', value, used: Math.max(value, usedMs) };
  return { error: `No answer within ${value} ms`, errorClass: 'timeout', limit, timedOut: true };
}

/**
 * Outcome of an attempt that was not sent: a refused address, or a secret that this node's keys
 * cannot open.
 */
function unsent(begun: Begun, error: unknown): AttemptOutcome {
  if (isEgressRefused(error))
    return failed(begun, { error: error.message, errorClass: 'refused', limit: limitOf(error) });
  const { parts, delivery } = begun;
  const ids = { webhook: delivery.webhookId, delivery: delivery.id };
  parts.log.error({ ...ids, err: error }, 'a delivery could not be signed');
  const message = 'The delivery could not be signed; the operator of this server has been told';
  return failed(begun, { error: message, errorClass: 'internal', limit: limitOf(error) });
}

function headerOf(raw: readonly (Buffer | string)[], name: string): string | undefined {
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if (String(raw[i]).toLowerCase() === name) return String(raw[i + 1]);
  }
  return undefined;
}

function isConnectTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'UND_ERR_CONNECT_TIMEOUT';
}
