import { defineLimits } from './define-limits.ts';

/** Webhooks whose requests go to a developer's `hw listen`. */
// biome-ignore format: one limit a line
export const TUNNEL_LIMITS = defineLimits({
  tunnelPollMs: { default: 100, unit: 'ms', scope: 'tunnel', why: 'how often a stream of `hw listen` looks for requests, and a node for their answers' },
  tunnelSignMs: { default: 5_000, unit: 'ms', scope: 'tunnel', why: 'how often it is noted that a developer listens' },
  tunnelSilentMs: { default: 20_000, unit: 'ms', scope: 'tunnel', why: 'how long after the last note attempts fail at once, as nobody listens' },
  tunnelKeptMs: { default: 10 * 60_000, unit: 'ms', scope: 'tunnel', why: 'how long after the last note the webhook of a `hw listen` that did not end is deleted' },
  maxTunnelBatch: { default: 4, unit: 'count', scope: 'tunnel', why: 'requests that a stream takes at once' },
  maxTunnelAnswerChars: { default: 16_384, unit: 'characters', scope: 'tunnel', why: 'an answer to a request' },
  maxTunnelHeadersChars: { default: 16_384, unit: 'characters', scope: 'tunnel', why: 'the headers of such an answer' },
  maxTunnelErrorChars: { default: 1_000, unit: 'characters', scope: 'tunnel', why: 'why there is no answer' },
});
