import { type AccountLimits, LIMITS } from '@headwater/shared';
import { storableText } from '../../../events/storable-text.ts';
import type { FetchTenant, GuestFetch, GuestFetchOutcome } from '../../../egress/guest-fetch.ts';
import { prepareRequest } from '../../../egress/guest-request.ts';
import { readHttpRequest } from './http-request.ts';
import { final, limitOf, plainOf, type SendOutcome } from '../../sends/send-outcome.ts';

/** Statuses of the 4xx that say nothing about the request itself. */
const TRANSIENT = new Set([408, 425, 429]);

/**
 * `$.send.http`: through the same guard, connections and turns as a component's `fetch`. A 2xx
 * status is success; a request that cannot be sent as it is, and an answer with another 4xx or 3xx,
 * are the end of it.
 */
export async function sendRequest(
  fetch: GuestFetch['fetch'],
  account: { id: string; limits: AccountLimits },
  json: string,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const read = await readHttpRequest(json);
  if (!read.ok) {
    const { message, plain = message, limit } = read;
    return final(message, { plain, ...(limit === undefined ? {} : { limit }) });
  }
  const tenant: FetchTenant = { id: account.id, limits: { ...account.limits, fetchTimeoutMs: LIMITS.sendTimeoutMs } };
  const prepared = prepareRequest(read.value, tenant.limits);
  if (!prepared.ok) {
    const { message, plain, limit } = prepared;
    return final(message, { plain, ...limitOf(account.limits, limit) });
  }
  const outcome = await fetch(tenant, read.value, signal, 'all');
  if (signal.aborted) return { kind: 'cut-off' };
  return outcome.ok ? answered(outcome) : unanswered(outcome, account.limits);
}

function answered(outcome: Extract<GuestFetchOutcome, { ok: true }>): SendOutcome {
  const { status: statusCode } = outcome;
  const response = storableText(Buffer.from(outcome.body.subarray(0, LIMITS.maxStoredResponseBytes)).toString('utf8'));
  const seen = { statusCode, ...(response === '' ? {} : { response }) };
  if (statusCode >= 200 && statusCode <= 299) return { kind: 'delivered', ...seen };
  if (statusCode < 500 && !TRANSIENT.has(statusCode)) return { kind: 'final', ...seen };
  const retryAfter = outcome.headers.find(([name]) => name === 'retry-after')?.[1];
  return { kind: 'again', ...seen, ...(retryAfter === undefined ? {} : { retryAfter }) };
}

function unanswered(failure: Extract<GuestFetchOutcome, { ok: false }>, limits: AccountLimits): SendOutcome {
  const { message: error, limit } = failure;
  const told = { error, ...plainOf(failure), ...limitOf(limits, limit) };
  // It has arrived: sent again it would arrive twice, and be answered in the same way.
  if (limit?.name === 'maxFetchResponseBytes') return { kind: 'final', ...told };
  return { kind: 'again', ...told, timedOut: limit?.name === 'fetchTimeoutMs' };
}
