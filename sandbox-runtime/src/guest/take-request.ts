import { append, applyFunction } from './intrinsics.ts';
import { limitError } from './limit-error.ts';
import type { RunContext } from './run-context.ts';

const { shift } = Array.prototype;

/**
 * Counts a request of a run, and starts it now or when one of those under way has ended. Throws
 * LimitError where the run may make no more. Each is to be given back with `releaseRequest`, once
 * `start` was called.
 */
export function takeRequest(context: RunContext, start: () => void): void {
  const { maxFetchesInFlightPerRun, maxFetchesPerRun } = context.limits;
  if (context.fetches >= maxFetchesPerRun)
    throw limitError({ name: 'maxFetchesPerRun', value: maxFetchesPerRun, used: context.fetches + 1 });
  context.fetches += 1;
  if (context.fetchesInFlight >= maxFetchesInFlightPerRun) {
    append(context.waitingRequests, start);
    return;
  }
  context.fetchesInFlight += 1;
  start();
}

export function releaseRequest(context: RunContext): void {
  const next = applyFunction(shift, context.waitingRequests, []) as (() => void) | undefined;
  if (next === undefined) context.fetchesInFlight -= 1;
  else next();
}

/**
 * Counts the body of a request before it leaves. Throws LimitError for one that is too large, alone
 * or with the others.
 */
export function takeUpload(context: RunContext, bytes: number): void {
  const { maxFetchRequestBytes, maxUploadBytesPerRun } = context.limits;
  if (bytes > maxFetchRequestBytes)
    throw limitError({ name: 'maxFetchRequestBytes', value: maxFetchRequestBytes, used: bytes });
  const used = context.uploadedBytes + bytes;
  if (used > maxUploadBytesPerRun)
    throw limitError({ name: 'maxUploadBytesPerRun', value: maxUploadBytesPerRun, used });
  context.uploadedBytes = used;
}
