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
  /** Why there is none. Either this or `status`. */
  error?: string;
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface Tunnels {
  /**
   * Makes a webhook that lasts as long as somebody listens to it, and its subscriptions: one
   * attempt for each event, of 30 seconds. Answers the id of the webhook. Throws as Webhooks.create
   * and Subscriptions.create do.
   */
  create(who: Principal, tunnel: NewTunnel): Promise<{ id: string }>;
  /**
   * Its requests as they come, each once. Throws NOT_FOUND, CONFLICT for another webhook,
   * RATE_LIMITED and UNAVAILABLE as Streams do.
   */
  listen(who: Principal, webhookId: string): Promise<Stream<TunnelRequest>>;
  /** Becomes the outcome of the attempt. Throws NOT_FOUND where it has ended. */
  answer(who: Principal, webhookId: string, answer: TunnelAnswer): Promise<void>;
}
