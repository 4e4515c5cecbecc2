import type { ExceededLimit } from '@headwater/shared';
import type { AttemptRecord } from '../contract/index.ts';

/** The last entry of a cancelled delivery's attempts: why there will be no other. JSON text. */
export function cancelNote(reason: string, nowMs: number, limit?: ExceededLimit): string {
  const note: AttemptRecord = {
    at: new Date(nowMs).toISOString(),
    error: reason,
    duration_ms: 0,
    ...(limit && { limit }),
  };
  return JSON.stringify(note);
}
