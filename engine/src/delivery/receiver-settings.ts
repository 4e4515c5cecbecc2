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
}
