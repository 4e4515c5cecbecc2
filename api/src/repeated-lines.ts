import { isDatabaseUnavailable } from '@headwater/engine';

/**
 * Lines of one kind in one window. If the database is unavailable, only the first line is written.
 */
const MAX_LINES = 50;
export const WINDOW_MS = 10_000;

interface Kind {
  endsAtMs: number;
  lines: number;
  left: number;
}

export interface RepeatedLines {
  /** False: it is one too many of its kind, and is counted. */
  mayWrite(fields: unknown, message: string): boolean;
}

/**
 * While the database is away everything that needs it fails, again and again, and says the same.
 * `summarize` is told at the end of a window how many lines were left out. What differs in numbers
 * and ids is one kind.
 */
export function createRepeatedLines(
  summarize: (message: string, left: number) => void,
  nowMs: () => number = () => performance.now(),
): RepeatedLines {
  const kinds = new Map<string, Kind>();
  let timer: NodeJS.Timeout | undefined;

  function endWindows(): void {
    timer = undefined;
    for (const [key, kind] of kinds) {
      if (kind.endsAtMs > nowMs()) continue;
      kinds.delete(key);
      if (kind.left > 0) summarize(key, kind.left);
    }
    if (kinds.size > 0) wait();
  }

  function wait(): void {
    timer ??= setTimeout(endWindows, WINDOW_MS / 10).unref();
  }

  return {
    mayWrite(fields, message) {
      const error = errorOf(fields);
      const key = message.replaceAll(/[0-9a-f]{8,}|\d+/gi, '…');
      const kind = kinds.get(key) ?? { endsAtMs: nowMs() + WINDOW_MS, lines: 0, left: 0 };
      kinds.set(key, kind);
      wait();
      const maxLines = isDatabaseUnavailable(error) ? 1 : MAX_LINES;
      if (kind.lines < maxLines) {
        kind.lines++;
        return true;
      }
      kind.left++;
      return false;
    },
  };
}

/** Under the names that we and graphile-worker give it. */
function errorOf(fields: unknown): unknown {
  const { err, meta } = (fields ?? {}) as { err?: unknown; meta?: { error?: unknown } | undefined };
  return err ?? meta?.error;
}
