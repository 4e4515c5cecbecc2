/**
 * Who wants to know that the server did not answer: a query tells it, and a stream that broke off.
 */
const listeners = new Set<() => void>();

export function noteConnectionLost(): void {
  for (const listener of listeners) listener();
}

export function onConnectionLost(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
