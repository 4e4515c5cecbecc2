import { createGiveWay } from '@headwater/shared';
import type { LimitsCache } from '../../accounts/limits-cache.ts';
import type { AttemptRecord } from '../../contract/engine.ts';
import type { RetryPolicy } from '../retry-policy.ts';
import type { Log } from '../../contract/log.ts';
import type { Attempt, AttemptEnd } from '../sender.ts';
import type { SendResult } from './record-send-attempts.sql.ts';
import type { DueSend } from './due-send.ts';
import type { Mailer } from '../transports/email/mailer.ts';
import type { SendContent } from './new-send.ts';
import { sendEmail } from '../transports/email/email-transport.ts';
import { again, type SendOutcome } from './send-outcome.ts';
import { sendRequest } from '../transports/http/http-transport.ts';
import { sendUpload, type UploadParts } from '../transports/s3/s3-transport.ts';

export interface SendContext extends UploadParts {
  mailer: Mailer;
  limits: Pick<LimitsCache, 'get' | 'isSuspended'>;
  retryPolicy: RetryPolicy;
  log: Log;
}

/** Makes one attempt. An e-mail cannot be called back: cut off, it may still arrive. */
export function attemptSend(context: SendContext, send: DueSend): Attempt<SendResult> {
  const stop = new AbortController();
  const cutOff = new Promise<SendOutcome>((resolve) => {
    stop.signal.addEventListener('abort', () => resolve({ kind: 'cut-off' }));
  });
  const startedAtMs = Date.now();
  const made = make(context, send, stop.signal).catch((err: unknown) => {
    context.log.error({ err, send: send.unitId }, 'a send could not be attempted');
    return again('It could not be sent; the operator of this server has been told');
  });
  const done = Promise.race([made, cutOff]).then((outcome) => endOf(context, send, startedAtMs, outcome));
  return { done, abort: () => stop.abort() };
}

async function make(context: SendContext, send: DueSend, signal: AbortSignal): Promise<SendOutcome> {
  const account = { id: send.accountId, limits: await context.limits.get(send.accountId) };
  const open = ({ payload, sealed }: SendContent) =>
    sealed === undefined ? payload : context.sealer.open(send.accountId, sealed);
  switch (send.kind) {
    case 'http':
      return discreet([send.content], await sendRequest(context.fetch, account, open(send.content), signal));
    case 'email':
      return sendEmail(context, account, send.unitId, open(send.content));
    case 's3': {
      const { bucket, objectKey, contents } = send;
      const payloads = await openInTurns(contents, open);
      return discreet(contents, await sendUpload(context, account, { bucket, objectKey, payloads }, signal));
    }
  }
}

/**
 * Thousands of lines, megabytes together: to open them takes the node's thread tens of
 * milliseconds.
 */
async function openInTurns(
  contents: readonly SendContent[],
  open: (content: SendContent) => string,
): Promise<string[]> {
  const giveWay = createGiveWay();
  const payloads: string[] = [];
  for (const content of contents) {
    payloads.push(open(content));
    await giveWay();
  }
  return payloads;
}

const NOT_TOLD = 'It was not delivered; why is not told, as what was sent has a secret in it';

/**
 * Of a send with a secret in it nothing is kept that may repeat the secret: not what the receiver
 * answered, nor an error that names something given, or a host to which the receiver has
 * redirected.
 */
function discreet(contents: readonly SendContent[], outcome: SendOutcome): SendOutcome {
  if (contents.every(({ sealed }) => sealed === undefined)) return outcome;
  const { response: _, error, plain = NOT_TOLD, ...rest } = outcome;
  return error === undefined ? rest : { ...rest, error: plain };
}

function endOf(
  { retryPolicy }: SendContext,
  send: DueSend,
  startedAtMs: number,
  outcome: SendOutcome,
): AttemptEnd<SendResult> {
  const { kind, statusCode, error, limit, response, retryAfter, timedOut = false } = outcome;
  if (kind === 'cut-off') return { kind };
  const endedAtMs = Date.now();
  const attempt: AttemptRecord = {
    at: new Date(startedAtMs).toISOString(),
    duration_ms: endedAtMs - startedAtMs,
    ...(statusCode === undefined ? {} : { status_code: statusCode }),
    ...(error === undefined ? {} : { error }),
    ...(limit === undefined ? {} : { limit }),
    ...(response === undefined ? {} : { response }),
  };
  const base = { unitId: send.unitId, accountId: send.accountId, attempt };
  if (kind !== 'again') {
    return { kind: 'made', timedOut, result: { ...base, status: kind === 'delivered' ? 'delivered' : 'failed' } };
  }
  const decision = retryPolicy({
    number: send.attemptCount + 1,
    endedAtMs,
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
  if (decision.kind === 'give-up') return { kind: 'made', timedOut, result: { ...base, status: 'failed' } };
  return { kind: 'made', timedOut, result: { ...base, status: 'pending', nextAttemptAtMs: decision.atMs } };
}
