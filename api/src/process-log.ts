import { styleText } from 'node:util';
import { type Logger, type LoggerOptions, pino } from 'pino';
import { createRedactor } from '@headwater/engine';
import type { Config } from './config.ts';
import { knownSecrets } from './known-secrets.ts';
import { type LoggedError, loggedError } from './logged-error.ts';
import { createRepeatedLines, type RepeatedLines, WINDOW_MS } from './repeated-lines.ts';

type LogOutput = Pick<NodeJS.WriteStream, 'isTTY' | 'write'> & { fd: number };

const SECRET_FIELDS = new Set([
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
]);
/** How deep they are looked for. */
const FIELD_DEPTH = 3;

/**
 * Writes JSON lines, or readable lines for a terminal. Fields with secret names and the process's
 * own secrets are masked anywhere in a line.
 */
export function createProcessLog(config: Config, output: LogOutput): Logger {
  const repeated = createRepeatedLines((kind, left) => {
    log.warn({ left_out: left, seconds: WINDOW_MS / 1_000 }, `${kind} (again and again)`);
  });
  const options = {
    hooks: { logMethod: withoutRepeats(repeated) },
    level: config.logLevel,
    base: config.worker === undefined ? null : { worker: config.worker.number },
    // pino's own redaction by such patterns takes longer than all else about a line.
    formatters: { log: (fields: object) => withoutSecrets(fields) },
    serializers: { err: (thrown: unknown) => loggedError(thrown) },
  };
  const redactor = createRedactor(knownSecrets(config));
  const clean = (line: string) => redactor?.json(line) ?? line;
  const log = pino(options, { write: writerTo(output, clean) });
  return log;
}

function writerTo(output: LogOutput, clean: (line: string) => string): (line: string) => void {
  if (output.isTTY) return (line) => void output.write(readableLine(clean(line)));
  const file = pino.destination({ fd: output.fd, sync: true });
  return (line) => void file.write(harmless(clean(line)));
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

/** Limits repeated warnings and errors. */
function withoutRepeats(repeated: RepeatedLines): LogMethod {
  return function write(parameters, method, level) {
    const [fields, message = fields] = parameters as [unknown, unknown];
    const isBounded = level === WARN || level === ERROR;
    if (isBounded && !repeated.mayWrite(fields, String(message))) return;
    method.apply(this, parameters);
  };
}

const [WARN, ERROR] = [40, 50];

const withoutSecrets = (fields: object, depth = 1): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => {
      return [name, SECRET_FIELDS.has(name) ? '[Redacted]' : withoutSecretsIn(value, depth)];
    }),
  );

function withoutSecretsIn(value: unknown, depth: number): unknown {
  // The serializer of errors logs only fields that it names.
  if (typeof value !== 'object' || value === null || value instanceof Error || depth === FIELD_DEPTH) return value;
  // A date, or another value that defines its own JSON.
  if ('toJSON' in value) return value;
  if (Array.isArray(value)) return value.map((one) => withoutSecretsIn(one, depth + 1));
  return withoutSecrets(value, depth + 1);
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
  return `${[clock, LEVELS[level] ?? String(level), harmless(msg ?? ''), ...rest].join(' ')}${trouble}\n`;
}

/**
 * Escapes terminal control characters: tenants or external servers may have written parts of the
 * line. Line breaks remain, and JSON keeps its meaning.
 */
function harmless(text: string): string {
  return text.replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function readableError({ stack, message, cause }: LoggedError): string {
  const text = harmless(stack ?? message);
  return cause === undefined ? text : `${text}\ncaused by: ${readableError(cause)}`;
}

function printable(value: unknown): string {
  return harmless(typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value));
}
