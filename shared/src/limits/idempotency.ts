import { defineLimits } from './define-limits.ts';

/** Requests with an Idempotency-Key: the stored answers. */
// biome-ignore format: one limit a line
export const IDEMPOTENCY_LIMITS = defineLimits({
  maxIdempotencyKeyChars: { default: 255, unit: 'characters', scope: 'request', why: 'an `Idempotency-Key`' },
  idempotencyKeyHours: { default: 24, unit: 'hours', scope: 'account', why: 'how long an `Idempotency-Key` and its answer are remembered, at least' },
  maxKeptAnswerBytes: { default: 64 * 1024, unit: 'bytes', scope: 'answer', why: 'an answer that is kept for an `Idempotency-Key`; a replay of a larger one is a 409' },
  maxIdempotencyKeys: { default: 20_000, unit: 'count', scope: 'account', why: 'keys that are remembered, as counted every 10 seconds' },
  maxKeptAnswersBytes: { default: 64 * 1024 * 1024, unit: 'bytes', scope: 'account', why: 'answers that are kept for its keys' },
});
