import type { DeliveryErrorClass } from '../../../contract/index.ts';
import type { DueDelivery } from '../../deliveries/due-delivery.ts';
import type { SignedRequest } from '../../webhooks/verify-signature.ts';

/** The outcome of a delivery that was handed over. */
export type Received =
  | { status: number; text: string; headers?: Readonly<Record<string, string>> }
  | { error: string; errorClass: DeliveryErrorClass };

/** Deliveries that the deliverer hands over within the node instead of sending it. */
export interface Inbox {
  /**
   * Whether the URL belongs to this inbox, for any account. Such a delivery is never sent over the
   * network. The guard refuses the node's own ports, and an address that leads back to the node
   * must not bypass that.
   */
  isBelow(url: string): boolean;
  /** Resolves with its outcome, within the time. Rejects while the database is away. */
  receive(delivery: DueDelivery, request: SignedRequest, timeoutMs: number): Promise<Received>;
}

/** Several as one. */
export function joinInboxes(inboxes: readonly Inbox[]): Inbox {
  const of = (url: string) => inboxes.find((inbox) => inbox.isBelow(url));
  return {
    isBelow: (url) => of(url) !== undefined,
    async receive(delivery, request, timeoutMs) {
      const inbox = of(delivery.url);
      if (inbox === undefined) throw new Error(`${delivery.url} belongs to no inbox`);
      return inbox.receive(delivery, request, timeoutMs);
    },
  };
}

/**
 * Whether a URL begins with `base`, which contains `path`. Parses the URL only if `path` occurs in
 * it, because this runs for every delivery.
 */
export function isUrlBelow(url: string, base: string, path: string): boolean {
  return url.includes(path) && (URL.parse(url)?.href ?? '').startsWith(base);
}
