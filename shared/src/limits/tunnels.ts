/** Webhooks whose requests go to a developer who listens. */
export const TUNNEL_LIMITS = {
  /** How often a stream looks for requests, and a node for their answers. */
  tunnelPollMs: 100,
  /**
   * A stream says so often that somebody listens; without it for so long, attempts fail at once.
   */
  tunnelSignMs: 5_000,
  tunnelSilentMs: 20_000,
  /** After it the webhook is deleted. */
  tunnelKeptMs: 10 * 60_000,
  /** Requests that a stream takes at once. */
  maxTunnelBatch: 4,
  /** Characters of an answer. */
  maxTunnelAnswerChars: 16_384,
  /** Characters of its headers, and of the reason where there is none. */
  maxTunnelHeadersChars: 16_384,
  maxTunnelErrorChars: 1_000,
} as const;
