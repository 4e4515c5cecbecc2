/** How fast what is larger than `smallChars` may follow each other in one turn of a tenant. */
export interface Pace {
  smallChars: number;
  charsPerSecond: number;
}

/**
 * Ends a turn as much later as what it moved takes at the pace: a large text costs the node's only
 * thread each time that it is read, judged, stored or sent, and nothing else keeps one tenant from
 * moving one after the other. Whoever moves little ends at once.
 */
export function endAtPace(end: () => void, chars: number, pace: Pace): void {
  const pauseMs = pauseAtPaceMs(chars, pace);
  if (pauseMs > 0) setTimeout(end, pauseMs).unref();
  else end();
}

export function pauseAtPaceMs(chars: number, { smallChars, charsPerSecond }: Pace): number {
  return Math.max(0, ((chars - smallChars) / charsPerSecond) * 1_000);
}
