/** Requests that carry an Idempotency-Key: what is kept of their answers. */
export const IDEMPOTENCY_LIMITS = {
  /** Characters of a key. */
  maxIdempotencyKeyChars: 255,
  /** How long a key is remembered, at least. */
  idempotencyKeyHours: 24,
  /** A larger answer is not kept: a replay says that the request was carried out. */
  maxKeptAnswerBytes: 64 * 1024,
  /** Per account, as counted every 10 seconds. */
  maxIdempotencyKeys: 20_000,
  maxKeptAnswersBytes: 64 * 1024 * 1024,
} as const;
