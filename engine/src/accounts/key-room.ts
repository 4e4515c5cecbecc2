import { HeadwaterError, LIMITS, platformLimit } from '@headwater/shared';
import type { Sql } from '../db/index.ts';
import { type KeyUse, readKeyUse } from './idempotency-keys.sql.ts';

/** Keeps the keys of each account within their limits, as far as this node knows of them. */
export interface KeyRoom {
  /** Throws RATE_LIMITED. */
  require(accountId: string): Promise<void>;
  /** Counts the bytes of an answer that was stored. */
  add(accountId: string, bytes: number): void;
}

const COUNTED_FOR_MS = 10_000;
const RETRY_AFTER_SECONDS = 600;
const MAX_ACCOUNTS = 10_000;

export function createKeyRoom(sql: Sql, nowMs: () => number): KeyRoom {
  const uses = new Map<string, KeyUse & { atMs: number }>();

  async function useOf(accountId: string): Promise<KeyUse> {
    const known = uses.get(accountId);
    if (known !== undefined && nowMs() - known.atMs < COUNTED_FOR_MS) return known;
    const use = { ...(await readKeyUse(sql, accountId)), atMs: nowMs() };
    uses.delete(accountId);
    if (uses.size >= MAX_ACCOUNTS) uses.delete(uses.keys().next().value as string);
    uses.set(accountId, use);
    return use;
  }

  return {
    async require(accountId) {
      const use = await useOf(accountId);
      const limit = [
        platformLimit('maxIdempotencyKeys', use.keys + 1),
        platformLimit('maxKeptAnswersBytes', use.bytes),
      ].find(({ used, value }) => used > value);
      if (limit !== undefined) throw tooMany(limit);
      use.keys += 1;
    },
    add(accountId, bytes) {
      const use = uses.get(accountId);
      if (use !== undefined) use.bytes += bytes;
    },
  };
}

function tooMany(limit: NonNullable<HeadwaterError['limit']>): HeadwaterError {
  const message = `The account has as many keys of requests as the limit ${limit.name} allows (${limit.value}); they are forgotten after ${LIMITS.idempotencyKeyHours} hours`;
  return new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, limit });
}
