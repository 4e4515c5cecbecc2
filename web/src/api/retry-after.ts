/**
 * Epoch milliseconds. A proxy may send the date of RFC 9110 (10.2.3) in place of seconds; anything
 * else counts as one second.
 */
export function endOfWait(retryAfter: string, nowMs = Date.now()): number {
  const endMs = /^\d+$/.test(retryAfter) ? nowMs + Number(retryAfter) * 1_000 : Date.parse(retryAfter);
  return Number.isFinite(endMs) ? endMs : nowMs + 1_000;
}
