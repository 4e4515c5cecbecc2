/** Told that the server did not answer, by a query or a stream that broke off. */
const listeners = new Set<() => void>();

export function noteConnectionLost(): void {
  for (const listener of listeners) listener();
}

export function onConnectionLost(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
