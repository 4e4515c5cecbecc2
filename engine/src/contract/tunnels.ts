import type { Principal } from './base.ts';
import type { Stream } from './streams.ts';

export interface NewTunnel {
  name?: string;
  /** Default: all sources and workflows of the account. */
  emitterId?: string;
  /** A channel or a pattern. Default: all channels but the built-in ones. */
  eventName?: string;
}

/** A delivery that waits for its answer; signed, as it would have been sent. */
export interface TunnelRequest {
  id: string;
  deliveryId: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

export interface TunnelAnswer {
  requestId: string;
  /** Reason for a missing response. Either this or `status` is set. */
  error?: string;
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface Tunnels {
  /**
   * Makes a webhook that lasts while a client listens to it, and its subscriptions. Each event gets
   * one attempt of 30 seconds. Returns the id of the webhook. Throws as Webhooks.create and
   * Subscriptions.create do.
   */
  create(who: Principal, tunnel: NewTunnel): Promise<{ id: string }>;
  /**
   * Its requests as they come, each once. Throws NOT_FOUND, CONFLICT for another webhook,
   * RATE_LIMITED and UNAVAILABLE as Streams do.
   */
  listen(who: Principal, webhookId: string): Promise<Stream<TunnelRequest>>;
  /** Becomes the outcome of the attempt. Throws NOT_FOUND if the attempt has ended. */
  answer(who: Principal, webhookId: string, answer: TunnelAnswer): Promise<void>;
}
