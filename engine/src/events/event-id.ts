/** Place of an event among its emitter's: the millisecond of indexing and a counter within it. */
export interface EventPosition {
  ms: number;
  seq: number;
}

/**
 * The next position after `last`. Positions of one emitter only grow, also when the clock goes
 * back: the commit that assigns them holds the emitter's row, so a reader that has seen one
 * position will never be shown an earlier one.
 */
export function nextPosition(last: EventPosition, nowMs: number): EventPosition {
  return nowMs > last.ms ? { ms: nowMs, seq: 0 } : { ms: last.ms, seq: last.seq + 1 };
}

/** Above 0 where `a` is the later one. */
export function comparePositions(a: EventPosition, b: EventPosition): number {
  return a.ms - b.ms || a.seq - b.seq;
}

/** `1606511826306-0` */
export function formatEventId(position: EventPosition): string {
  return `${position.ms}-${position.seq}`;
}

/** `dc_1vZ8…-1606511826306-0`: unique over all emitters. */
export function emitIdOf(emitterId: string, position: EventPosition): string {
  return `${emitterId}-${formatEventId(position)}`;
}

/** Undefined for text that is not an event id. `1606511826306` alone means its first event. */
export function parseEventId(text: string): EventPosition | undefined {
  const match = /^(\d{1,15})(?:-(\d{1,9}))?$/.exec(text);
  return match === null ? undefined : { ms: Number(match[1]), seq: Number(match[2] ?? 0) };
}
