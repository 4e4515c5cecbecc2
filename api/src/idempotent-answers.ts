import { createHash } from 'node:crypto';
import { type Engine, isDatabaseUnavailable, type KeptAnswer, type KeyedRequest } from '@headwater/engine';
import { type ErrorCode, HeadwaterError, LIMITS } from '@headwater/shared';
import type { LargeAnswer } from './answer-text.ts';
import type { Log } from './log.ts';
import { defectProblem, problemOfError } from './problem.ts';

export const KEY_HEADER = 'idempotency-key';
/** Marks an answer that was given before. */
export const REPLAYED_HEADER = 'idempotent-replayed';

export interface MadeAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Null: without a body. */
  text: string | LargeAnswer | null;
}

/** Errors of requests that did nothing, and may do what they were to do when they come again. */
const NOTHING_DONE: ReadonlySet<ErrorCode> = new Set(['RATE_LIMITED', 'UNAVAILABLE']);
const PRINTABLE = /^[\u0020-\u007e]+$/;

/** The key, bare or as the string that the draft wants; undefined without the header. */
export function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const given = header.trim();
  const key = /^".*"$/.test(given) ? given.slice(1, -1) : given;
  if (key.length >= 1 && key.length <= LIMITS.maxIdempotencyKeyChars && PRINTABLE.test(key)) return key;
  const message = `The header ${KEY_HEADER} must have 1 to ${LIMITS.maxIdempotencyKeyChars} printable ASCII characters`;
  throw new HeadwaterError('INVALID_REQUEST', message);
}

export function fingerprintOf(method: string, url: string, body: string): Uint8Array {
  const { pathname, search } = new URL(url);
  return createHash('sha256').update(`${method} ${pathname}${search}\n`).update(body).digest();
}

interface Answering {
  engine: Engine;
  log: Log;
  requestId: string;
}

/**
 * Makes the answer, or gives the one that the same request got before. Throws as Idempotency.begin,
 * and what `make` throws.
 */
export async function answerOnce(
  { engine, log, requestId }: Answering,
  request: KeyedRequest,
  make: () => Promise<MadeAnswer>,
): Promise<MadeAnswer> {
  const outcome = await engine.idempotency.begin(request);
  if (outcome.kind === 'answered') return replayOf(outcome.answer);
  const { claim } = outcome;
  // Without an end the outcome is told as unknown, so the client keeps the answer that it has come
  // to.
  const tell = (err: unknown) => log.warn({ err, request_id: requestId }, 'an idempotent answer could not be kept');
  try {
    const made = await make();
    await engine.idempotency.end(claim, keptAnswer(made)).catch(tell);
    return made;
  } catch (error) {
    if (error instanceof HeadwaterError && NOTHING_DONE.has(error.code))
      await engine.idempotency.release(claim).catch(tell);
    else if (!isDatabaseUnavailable(error))
      await engine.idempotency.end(claim, keptProblem(error, requestId)).catch(tell);
    throw error;
  }
}

function replayOf({ status, headers, text }: KeptAnswer): MadeAnswer {
  return { status, headers: { ...headers, [REPLAYED_HEADER]: 'true' }, text: text ?? null };
}

function keptAnswer({ status, headers, text }: MadeAnswer): KeptAnswer {
  if (text === null) return { status, headers };
  return { status, headers, text: typeof text === 'string' ? text : Buffer.concat(text.pieces).toString() };
}

function keptProblem(error: unknown, requestId: string): KeptAnswer {
  const isTold = error instanceof HeadwaterError && error.code !== 'INTERNAL';
  const problem = isTold ? problemOfError(error, requestId) : defectProblem(requestId);
  return { status: problem.status, headers: {}, text: JSON.stringify(problem) };
}
