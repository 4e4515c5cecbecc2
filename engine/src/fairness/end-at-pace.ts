/** The pace for texts larger than `smallChars` in a tenant's turns. */
export interface Pace {
  smallChars: number;
  charsPerSecond: number;
}

/**
 * Delays the end of a turn by the time that its text takes at the pace. A large text costs the
 * node's only thread each time it is read, judged, stored or sent. Nothing else keeps one tenant
 * from moving one after the other. A turn with little text ends at once.
 */
export function endAtPace(end: () => void, chars: number, pace: Pace): void {
  const pauseMs = pauseAtPaceMs(chars, pace);
  if (pauseMs > 0) setTimeout(end, pauseMs).unref();
  else end();
}

export function pauseAtPaceMs(chars: number, { smallChars, charsPerSecond }: Pace): number {
  return Math.max(0, ((chars - smallChars) / charsPerSecond) * 1_000);
}
