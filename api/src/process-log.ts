import { styleText } from 'node:util';
import { type Logger, pino } from 'pino';
import { createRedactor } from '@headwater/engine';
import type { Config } from './config.ts';
import { knownSecrets } from './known-secrets.ts';
import { type LoggedError, loggedError } from './logged-error.ts';

type LogOutput = Pick<NodeJS.WriteStream, 'isTTY' | 'write'> & { fd: number };

const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'api_key',
  'apiKey',
  'adminKey',
  'encryptionKey',
  'oldEncryptionKeys',
  'databaseUrl',
  'egressProxy',
  'secret',
  'password',
  'token',
  'headers',
  'props',
  'configured_props',
];

/**
 * JSON lines, or a readable line for whoever watches a terminal. Fields that name secrets are never written out, nor are the
 * secrets that the process was started with, wherever in a line they are.
 */
export function createProcessLog(config: Config, output: LogOutput): Logger {
  const options = {
    level: config.logLevel,
    base: null,
    redact: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
    serializers: { err: (thrown: unknown) => loggedError(thrown) },
  };
  const redactor = createRedactor(knownSecrets(config));
  const clean = (line: string) => redactor?.json(line) ?? line;
  if (output.isTTY) return pino(options, { write: (line: string) => void output.write(readableLine(clean(line))) });
  const file = pino.destination({ fd: output.fd, sync: true });
  return pino(options, { write: (line: string) => void file.write(clean(line)) });
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
    err?: LoggedError;
  };
  const clock = styleText('dim', new Date(time).toISOString().slice(11, 23));
  const rest = Object.entries(fields).map(([name, value]) => styleText('dim', `${name}=${printable(value)}`));
  const trouble = err === undefined ? '' : `\n${readableError(err)}`;
  return `${[clock, LEVELS[level] ?? String(level), msg ?? '', ...rest].join(' ')}${trouble}\n`;
}

function readableError({ stack, message, cause }: LoggedError): string {
  const text = stack ?? message;
  return cause === undefined ? text : `${text}\ncaused by: ${readableError(cause)}`;
}

function printable(value: unknown): string {
  return typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
}
