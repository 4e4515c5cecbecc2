/** What a webhook's owner says of its requests, as it is stored. Absent: as this node does it by default. */
export interface ReceiverSettings {
  /** Signs beside the new secret until then. */
  previousSecret?: { sealed: string; untilMs: number };
  /** JSON text of `[name, value]` pairs, sealed. */
  sealedHeaders?: string;
  /** The wait after the first, second, … failed attempt. */
  retryScheduleSeconds?: readonly number[];
  timeoutMs?: number;
}
