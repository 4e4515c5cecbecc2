import { limitError } from './limit-error.ts';
import type { RunContext } from './run-context.ts';

/** Counts a request of a run. Throws LimitError where the run may make no more, or no more at the same time. */
export function takeRequest(context: RunContext): void {
  const { maxFetchesInFlightPerRun, maxFetchesPerRun } = context.limits;
  if (context.fetchesInFlight >= maxFetchesInFlightPerRun) {
    const used = context.fetchesInFlight + 1;
    throw limitError({ name: 'maxFetchesInFlightPerRun', value: maxFetchesInFlightPerRun, used });
  }
  if (context.fetches >= maxFetchesPerRun)
    throw limitError({ name: 'maxFetchesPerRun', value: maxFetchesPerRun, used: context.fetches + 1 });
  context.fetches += 1;
  context.fetchesInFlight += 1;
}

/** Counts the body of a request before it leaves. Throws LimitError for one that is too large, alone or with the others. */
export function takeUpload(context: RunContext, bytes: number): void {
  const { maxFetchRequestBytes, maxUploadBytesPerRun } = context.limits;
  if (bytes > maxFetchRequestBytes)
    throw limitError({ name: 'maxFetchRequestBytes', value: maxFetchRequestBytes, used: bytes });
  const used = context.uploadedBytes + bytes;
  if (used > maxUploadBytesPerRun)
    throw limitError({ name: 'maxUploadBytesPerRun', value: maxUploadBytesPerRun, used });
  context.uploadedBytes = used;
}
