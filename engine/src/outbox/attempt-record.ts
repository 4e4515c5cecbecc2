import { isUtf8 } from 'node:buffer';
import { type ExceededLimit, LIMITS } from '@headwater/shared';
import type { AttemptPhases, AttemptTrigger, DeliveryAttempt, DeliveryErrorClass } from '../contract/deliveries.ts';
import type { ExchangeTimes } from '../egress/exchange-times.ts';
import type { DueDelivery } from './deliveries/due-delivery.ts';

/** Kept in the place of a secret. */
const REDACTED = '[redacted]';
/** Headers of answers: they may let their reader in at the receiver. */
const SECRET_HEADERS = new Set(['set-cookie', 'authorization', 'proxy-authorization', 'cookie']);

/** A request as it was sent. */
export interface SentRequest {
  /** Name, value, name, value … */
  headers: readonly string[];
  /** Names in lower case of headers that the webhook's owner has sealed. */
  secretNames: ReadonlySet<string>;
}

/** The facts of an attempt that has ended, before it is decided what follows. */
export interface AttemptFacts {
  startedAtMs: number;
  endedAtMs: number;
  request?: SentRequest | undefined;
  times?: ExchangeTimes | undefined;
  answer?: { status: number; rawHeaders: readonly (Buffer | string)[]; body: Buffer } | undefined;
  error?: string | undefined;
  limit?: ExceededLimit | undefined;
  errorClass?: DeliveryErrorClass | undefined;
}

/** The attempt as its delivery's log keeps it. */
export function attemptRecord(delivery: DueDelivery, facts: AttemptFacts): DeliveryAttempt {
  const { startedAtMs, endedAtMs, request, times, answer, error, limit, errorClass } = facts;
  const shown = answer === undefined ? '' : textOf(answer.body.subarray(0, LIMITS.maxStoredResponseBytes));
  return {
    at: new Date(startedAtMs).toISOString(),
    trigger: triggerOf(delivery),
    ...(answer === undefined ? {} : { status_code: answer.status }),
    ...(error === undefined ? {} : { error }),
    ...(limit === undefined ? {} : { limit }),
    ...(errorClass === undefined ? {} : { error_class: errorClass }),
    duration_ms: endedAtMs - startedAtMs,
    ...(times === undefined ? {} : phasesOf(times)),
    ...(request === undefined ? {} : { request_headers: headerLines(request.headers, request.secretNames) }),
    ...(answer === undefined ? {} : { response_headers: headerLines(answer.rawHeaders, SECRET_HEADERS) }),
    ...(shown === '' ? {} : { response: shown }),
    ...(answer !== undefined && isKeptApart(answer.body) ? { response_bytes: answer.body.length } : {}),
  };
}

/**
 * Whether the record of the attempt does not have all of what was read of the answer, byte for
 * byte.
 */
export function isKeptApart(body: Buffer): boolean {
  return body.length > LIMITS.maxStoredResponseBytes || body.includes(0) || !isUtf8(body);
}

function triggerOf({ isTest, nextTrigger, attemptCount }: DueDelivery): AttemptTrigger {
  if (isTest) return 'test';
  return nextTrigger ?? (attemptCount === 0 ? 'first' : 'retry');
}

function phasesOf({ isReused, remoteAddress, ...times }: ExchangeTimes) {
  const { dnsMs, connectMs, tlsMs, firstByteMs, endMs } = times;
  const phases = [dnsMs, connectMs, tlsMs, firstByteMs, endMs].map(shortMs);
  return {
    phases: phases as unknown as AttemptPhases,
    ...(isReused ? { reused: true as const } : {}),
    ...(remoteAddress === undefined ? {} : { remote_address: remoteAddress }),
  };
}

const shortMs = (ms: number | undefined) => (ms === undefined ? null : Math.round(ms * 10) / 10);

/** One text of all lines: to store it costs a fraction of what an object of them does. */
function headerLines(raw: readonly (Buffer | string)[], secretNames: ReadonlySet<string>): string {
  let lines = '';
  for (let i = 0; i + 1 < raw.length && lines.length < LIMITS.maxStoredHeaderChars; i += 2) {
    const name = headerText(raw[i]).toLowerCase();
    lines += `${name}: ${secretNames.has(name) ? REDACTED : headerText(raw[i + 1])}\n`;
  }
  return lines.slice(0, LIMITS.maxStoredHeaderChars);
}

/** Bytes of headers are Latin-1, and jsonb refuses NUL. */
function headerText(value: Buffer | string | undefined): string {
  return (typeof value === 'string' ? value : (value?.toString('latin1') ?? '')).replace(/[\0-\x08\x0a-\x1f]/g, ' ');
}

// NUL is valid in UTF-8, and jsonb refuses it: the whole batch would fail for one receiver's odd
// answer.
function textOf(body: Buffer): string {
  return body.length === 0 ? '' : body.toString('utf8').replaceAll('\0', '\ufffd');
}
