import { createGiveWay, type LogLine } from '@headwater/shared';

type StoredLine = Omit<LogLine, 'atMs'> & { at: number };

export const NO_LINES = '[]';

/**
 * Log lines as records of runs and steps keep them: JSON text of a list, of at most twice the
 * characters that were logged. The megabytes that a run may log are written in turns.
 */
export async function storeLines(lines: readonly LogLine[]): Promise<string> {
  if (lines.length === 0) return NO_LINES;
  const giveWay = createGiveWay();
  const stored: string[] = [];
  for (const { atMs: at, level, message, limit } of lines) {
    stored.push(JSON.stringify({ at, level, message: legible(message), limit }));
    await giveWay();
  }
  return `[${stored.join(',')}]`;
}

/** Characters of an escaped control character or half of a surrogate pair in JSON. */
const LONGEST_ESCAPE = 6;
const PIECE_CHARS = 1_024;
/** A short line may have a few of them: a cut would leave nothing of it. */
const ALLOWED_MORE_CHARS = 128;
const CUT_MARK = ' [cut: not text]';

/**
 * A logged line counts by its characters. In JSON, a line of control characters is six times as
 * long. A run could store six times its limit, which one read then takes in one piece and blocks
 * the thread. A line that JSON makes more than twice as long is not text: quotes, line ends and
 * colours do not do that. Such a line is cut so that its JSON is no longer than the line was.
 */
function legible(message: string): string {
  let more = 0;
  for (let at = 0; at < message.length; at += PIECE_CHARS) {
    const piece = message.slice(at, at + PIECE_CHARS);
    more += JSON.stringify(piece).length - 2 - piece.length;
    // Not to the end: that would be the work which is to be spared.
    if (more > message.length + ALLOWED_MORE_CHARS) return message.slice(0, message.length / LONGEST_ESCAPE) + CUT_MARK;
  }
  return message;
}

/** In JavaScript: Postgres refuses to take a NUL out of JSON, and a log line may hold one. */
export function readStoredLines(text: string): LogLine[] {
  return (JSON.parse(text) as StoredLine[]).map(({ at, ...line }) => ({ atMs: at, ...line }));
}
