import { appendFileSync } from 'node:fs';

/** Actions of the soak and their results, in order of time. */
export interface Timeline {
  add(what: string, fields?: Record<string, unknown>): void;
  /** Seconds since the timeline began. */
  seconds(atMs?: number): number;
}

/** Writes line by line, so that the file survives any end of the process. */
export function createTimeline(file: string, tell: (line: string) => void): Timeline {
  const beganAtMs = Date.now();
  const seconds = (atMs = Date.now()) => Math.round((atMs - beganAtMs) / 10) / 100;
  return {
    seconds,
    add(what, fields = {}) {
      const at = new Date();
      const line = { at: at.toISOString(), s: seconds(at.getTime()), what, ...fields };
      appendFileSync(file, `${JSON.stringify(line)}\n`);
      tell(`${seconds(at.getTime()).toFixed(1).padStart(7)} s  ${what} ${detailsOf(fields)}`.trimEnd());
    },
  };
}

function detailsOf(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
