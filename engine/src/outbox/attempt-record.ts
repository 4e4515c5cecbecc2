import { isUtf8 } from 'node:buffer';
import { LIMITS } from '@headwater/shared';
import type { AttemptPhases, AttemptTrigger, DeliveryAttempt } from '../contract/index.ts';
import type { ExchangeTimes } from '../egress/index.ts';
import type { AttemptFacts, AttemptOutcome, OutboxItem } from './transport.ts';

/** Kept in the place of a secret. */
const REDACTED = '[redacted]';
/** Headers of answers: they may let their reader in at the receiver. */
const SECRET_HEADERS = new Set(['set-cookie', 'authorization', 'proxy-authorization', 'cookie']);

/** The attempt as the log of its item keeps it. */
export function attemptRecord(
  item: OutboxItem,
  facts: AttemptFacts & { kind: AttemptOutcome['kind']; startedAtMs: number; endedAtMs: number },
): DeliveryAttempt {
  const { kind, startedAtMs, endedAtMs, statusCode, body, request, responseHeaders, times } = facts;
  const { error, limit, errorClass } = facts;
  const shown = body === undefined ? '' : textOf(body.subarray(0, LIMITS.maxStoredResponseBytes));
  return {
    at: new Date(startedAtMs).toISOString(),
    trigger: triggerOf(item),
    ...(statusCode === undefined ? {} : { status_code: statusCode }),
    ...(error === undefined ? {} : { error }),
    ...(limit === undefined ? {} : { limit }),
    ...(errorClass === undefined ? {} : { error_class: errorClass }),
    duration_ms: endedAtMs - startedAtMs,
    ...(times === undefined ? {} : phasesOf(times)),
    ...(request === undefined ? {} : { request_headers: headerLines(request.headers, request.secretNames) }),
    ...(responseHeaders === undefined ? {} : { response_headers: headerLines(responseHeaders, SECRET_HEADERS) }),
    ...(shown === '' ? {} : { response: shown }),
    ...(facts.isBodyKept === true && body !== undefined ? { response_bytes: body.length } : {}),
    ...(kind === 'dropped' ? { dropped: true as const } : {}),
  };
}

/** Whether the attempt's record lacks bytes of the response, or changes them. */
export function isKeptApart(body: Buffer): boolean {
  return body.length > LIMITS.maxStoredResponseBytes || body.includes(0) || !isUtf8(body);
}

function triggerOf({ isTest, nextTrigger, attemptCount }: OutboxItem): AttemptTrigger {
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

/** One text of all lines: storing it costs a fraction of an object. */
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
