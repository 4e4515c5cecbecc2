import { readFileSync } from 'node:fs';

export interface LoggedError {
  node: string;
  level: 'warn' | 'error' | 'fatal';
  message: string;
  /** SQLSTATE or the like, where the error has one. */
  code: string;
  /** Message of the error. */
  error: string;
  count: number;
  firstAt: string;
}

interface LogLine {
  level?: number | string;
  msg?: string;
  time?: number | string;
  err?: { code?: string; message?: string };
}

const LEVELS: Readonly<Record<string, LoggedError['level']>> = {
  40: 'warn',
  50: 'error',
  60: 'fatal',
  warn: 'warn',
  error: 'error',
  fatal: 'fatal',
};

/** Log lines of the nodes above `info`, grouped by message, most frequent first. */
export function summarizeLogs(nodes: readonly { name: string; logFile: string }[]): LoggedError[] {
  const found = new Map<string, LoggedError>();
  for (const { name, logFile } of nodes) {
    for (const text of readFileSync(logFile, 'utf8').split('\n')) {
      const logged = readLine(name, text);
      if (logged === undefined) continue;
      const key = `${name} ${logged.message} ${logged.code} ${logged.error}`;
      const known = found.get(key);
      if (known === undefined) found.set(key, logged);
      else known.count++;
    }
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}

function readLine(node: string, text: string): LoggedError | undefined {
  if (!text.startsWith('{')) return undefined;
  let line: LogLine;
  try {
    line = JSON.parse(text) as LogLine;
  } catch {
    // Cut by a kill.
    return undefined;
  }
  const level = LEVELS[String(line.level)];
  if (level === undefined) return undefined;
  const { code = '', message = '' } = line.err ?? {};
  const error = message.slice(0, 200);
  return { node, level, message: line.msg ?? '', code, error, count: 1, firstAt: String(line.time) };
}
