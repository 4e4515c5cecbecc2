import { setTimeout as sleep } from 'node:timers/promises';

export interface EventuallyOptions {
  /** Default 10 000. */
  timeoutMs?: number;
  /** Default 10. */
  everyMs?: number;
  /** What is awaited, for the message. */
  what?: string;
}

/**
 * Calls `check` until it answers something other than false or undefined, and answers that. A check that throws counts
 * as not yet; what it threw last is the cause of the failure.
 */
export async function eventually<T>(
  check: () => Promise<T | false | undefined> | T | false | undefined,
  options: EventuallyOptions = {},
): Promise<T> {
  const { timeoutMs = 10_000, everyMs = 10 } = options;
  const deadline = Date.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await check();
      if (value !== false && value !== undefined) return value;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (Date.now() >= deadline) break;
    await sleep(everyMs);
  }
  throw new Error(`Waited ${timeoutMs} ms in vain for ${options.what ?? check.toString()}`, { cause });
}
