import type { LogLine } from '@headwater/shared';

type StoredLine = Omit<LogLine, 'atMs'> & { at: number };

/** Log lines as records of runs and steps keep them: JSON text of a list. */
export function storeLines(lines: readonly LogLine[]): string {
  return JSON.stringify(lines.map(({ atMs: at, level, message, limit }) => ({ at, level, message, limit })));
}

/** In JavaScript: Postgres refuses to take a NUL out of JSON, and a log line may hold one. */
export function readLines(text: string): LogLine[] {
  return (JSON.parse(text) as StoredLine[]).map(({ at, ...line }) => ({ atMs: at, ...line }));
}
