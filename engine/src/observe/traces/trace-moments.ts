import { idFloor, type IdKind } from '@headwater/shared';
import { emitIdOf } from '../../events/index.ts';
import type { TraceEventRow } from './read-trace.sql.ts';

/**
 * Ids of the events; and of each millisecond in which there were any, between which ids rows that
 * were made in it have theirs.
 */
export function momentsOf(
  events: readonly TraceEventRow[],
  kind: IdKind,
): { emitIds: string[]; floors: string[]; ends: string[] } {
  const moments = [...new Set(events.map((row) => row.indexed_at_ms))];
  return {
    emitIds: events.map((row) => emitIdOf(row.emitter_id, { ms: row.indexed_at_ms, seq: row.seq })),
    floors: moments.map((ms) => idFloor(kind, ms)),
    ends: moments.map((ms) => idFloor(kind, ms + 1)),
  };
}
