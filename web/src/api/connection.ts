import { useSyncExternalStore } from 'react';
import { endOfWait } from './retry-after.ts';

/** Told that the server did not answer, by a query or a stream that broke off. */
const listeners = new Set<() => void>();

export function noteConnectionLost(): void {
  for (const listener of listeners) listener();
}

export function onConnectionLost(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let waitsUntilMs = 0;
const waitListeners = new Set<() => void>();

/** The server has refused a request for its rate: the page makes it again after that time. */
export function noteRateLimited(retryAfter: string | null): void {
  waitsUntilMs = Math.max(waitsUntilMs, endOfWait(retryAfter ?? ''));
  for (const listener of waitListeners) listener();
}

/** Epoch milliseconds until which requests wait for their rate; past or 0 where none does. */
export function useRateLimitEnd(): number {
  return useSyncExternalStore(
    (listener) => {
      waitListeners.add(listener);
      return () => waitListeners.delete(listener);
    },
    () => waitsUntilMs,
  );
}
