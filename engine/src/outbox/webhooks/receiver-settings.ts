import type { RequestOptions } from '../../contract/index.ts';

/** Settings of a webhook's requests, as they are stored. Absent: the default of this node. */
export interface ReceiverSettings {
  /** Signs beside the new secret until then. */
  previousSecret?: { sealed: string; untilMs: number };
  /** JSON text of `[name, value]` pairs, sealed. */
  sealedHeaders?: string;
  /** The wait after the first, second, … failed attempt. */
  retryScheduleSeconds?: readonly number[];
  timeoutMs?: number;
  /** The attempts before have failed. */
  isFailing?: true;
  /**
   * Deliveries go only through the lane: the webhook has an order, a fixed or adaptive rate, or an
   * in-flight limit.
   */
  isGoverned?: true;
  /** Its attempts tell at which rate more may begin. */
  isAdaptive?: true;
  /** The end of an attempt may let another begin. */
  wakesLane?: true;
  /** One after the other of each key, which is at this path in the event; null: of all. */
  ordering?: { key: string | null };
  options?: RequestOptions;
  /** JSON text of a WebhookAuth, sealed. */
  sealedAuth?: string;
  /** PEM text of the client certificate's key, sealed. */
  sealedClientKey?: string;
  /** The component that changes its requests. */
  transformId?: string;
}
