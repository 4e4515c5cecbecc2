import { styleText } from 'node:util';
import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'api_key',
  'apiKey',
  'adminKey',
  'encryptionKey',
  'secret',
  'password',
];

/** JSON lines, or a readable line for whoever watches a terminal. Fields that name secrets are never written out. */
export function createProcessLog(level: Config['logLevel'], output: NodeJS.WriteStream): Logger {
  const options = {
    level,
    base: null,
    redact: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
    serializers: { err: pino.stdSerializers.err },
  };
  if (!output.isTTY) return pino(options, pino.destination({ fd: 1, sync: true }));
  return pino(options, { write: (line: string) => void output.write(readableLine(line)) });
}

const LEVELS: Record<number, string> = {
  10: styleText('dim', 'trace'),
  20: styleText('dim', 'debug'),
  30: styleText('green', 'info '),
  40: styleText('yellow', 'warn '),
  50: styleText('red', 'error'),
  60: styleText(['red', 'bold'], 'fatal'),
};

function readableLine(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as {
    level: number;
    time: number;
    msg?: string;
    err?: { message?: string; stack?: string };
  };
  const clock = styleText('dim', new Date(time).toISOString().slice(11, 23));
  const rest = Object.entries(fields).map(([name, value]) => styleText('dim', `${name}=${printable(value)}`));
  const trouble = err === undefined ? '' : `\n${err.stack ?? err.message ?? JSON.stringify(err)}`;
  return `${[clock, LEVELS[level] ?? String(level), msg ?? '', ...rest].join(' ')}${trouble}\n`;
}

function printable(value: unknown): string {
  return typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
}
