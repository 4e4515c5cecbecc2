import type { SecureContext } from 'node:tls';

/**
 * How a connection proves itself and its server, other than by default. Connections of two are
 * never shared.
 */
export interface ClientTls {
  id: number;
  context: SecureContext;
}

/** The target of a connection, and its client. */
export interface Destination {
  origin: string;
  tls?: ClientTls | undefined;
}

export function destinationOf(to: string | Destination): Destination {
  return typeof to === 'string' ? { origin: to } : to;
}

export function destinationKey(to: string | Destination): string {
  if (typeof to === 'string') return to;
  return to.tls === undefined ? to.origin : `${to.origin} ${to.tls.id}`;
}
