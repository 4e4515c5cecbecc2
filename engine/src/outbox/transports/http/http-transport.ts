import { type AccountLimits, LIMITS } from '@headwater/shared';
import { type FetchTenant, type GuestFetchOutcome, prepareRequest } from '../../../egress/index.ts';
import { spanOfAttempt } from '../../../tracing/index.ts';
import { classOfStatus } from '../../error-class.ts';
import type { DueRequest } from '../../sends/due-send.ts';
import { openContent } from '../../sends/open-content.ts';
import { type AttemptOutcome, CUT_OFF, final, type Transport } from '../../transport.ts';
import { limitField, plainOf, withoutSecretsOfSend } from '../plain-errors.ts';
import type { SendTransportParts } from '../send-transport-parts.ts';
import { readHttpRequest } from './http-request.ts';

/** Statuses of the 4xx that say nothing about the request itself. */
const TRANSIENT = new Set([408, 425, 429]);

/**
 * `$.send.http`: through the same guard, connections and turns as a component's `fetch`. A 2xx
 * status is success; a request that cannot be sent as it is, and an answer with another 4xx or 3xx,
 * are the end of it.
 */
export function createHttpTransport(
  parts: Pick<SendTransportParts, 'fetch' | 'limits' | 'sealer'>,
): Transport<DueRequest> {
  return {
    attempt: async (send, signal) => withoutSecretsOfSend([send.content], await sendRequest(parts, send, signal)),
  };
}

async function sendRequest(
  { fetch, limits, sealer }: Pick<SendTransportParts, 'fetch' | 'limits' | 'sealer'>,
  { id, accountId, content, attemptCount, sentBy: [by] }: DueRequest,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const ofAccount = await limits.get(accountId);
  const read = await readHttpRequest(openContent(sealer, accountId, content));
  if (!read.ok) {
    const { message, plain = message, limit } = read;
    return final(message, { plain, errorClass: 'internal', limit });
  }
  const tenant: FetchTenant = {
    id: accountId,
    limits: { ...ofAccount, fetchTimeoutMs: LIMITS.sendTimeoutMs },
    trace: by && { rootId: by.traceId, span: spanOfAttempt(id, attemptCount + 1) },
  };
  const prepared = prepareRequest(read.value, tenant.limits);
  if (!prepared.ok) {
    const { message, plain, limit } = prepared;
    return final(message, {
      ...(plain === undefined ? {} : { plain }),
      errorClass: 'internal',
      ...limitField(ofAccount, limit),
    });
  }
  const outcome = await fetch(tenant, read.value, signal, 'all');
  if (signal.aborted) return CUT_OFF;
  return outcome.ok ? answered(outcome) : unanswered(outcome, ofAccount);
}

function answered({ status: statusCode, headers, body }: Extract<GuestFetchOutcome, { ok: true }>): AttemptOutcome {
  const responseHeaders = headers.flat();
  const seen = { statusCode, responseHeaders, body: Buffer.from(body.subarray(0, LIMITS.maxStoredResponseBytes)) };
  if (statusCode >= 200 && statusCode <= 299) return { kind: 'delivered', ...seen };
  const refused = { ...seen, errorClass: classOfStatus(statusCode) };
  if (statusCode < 500 && !TRANSIENT.has(statusCode)) return { kind: 'final', ...refused };
  return { kind: 'again', ...refused, retryAfter: headers.find(([name]) => name === 'retry-after')?.[1] };
}

function unanswered(failure: Extract<GuestFetchOutcome, { ok: false }>, limits: AccountLimits): AttemptOutcome {
  const { message: error, limit } = failure;
  const timedOut = limit?.name === 'fetchTimeoutMs';
  const told = { error, ...plainOf(failure), ...limitField(limits, limit) };
  // It has arrived: sent again it would arrive twice, and be answered in the same way.
  if (limit?.name === 'maxFetchResponseBytes') return { kind: 'final', ...told, errorClass: 'connection' };
  return { kind: 'again', ...told, errorClass: timedOut ? 'timeout' : 'connection', timedOut };
}
