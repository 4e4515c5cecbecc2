export interface LoggedError {
  type: string;
  message: string;
  stack?: string;
  cause?: LoggedError;
  errors?: LoggedError[];
  [field: string]: unknown;
}

/**
 * Fields that explain an error and hold no tenant data: those of Node's system errors and of
 * Postgres.
 */
const FIELDS = [
  'code',
  'errno',
  'syscall',
  'address',
  'port',
  'severity',
  'table_name',
  'column_name',
  'constraint_name',
];
const MAX_DEPTH = 5;
const MAX_ERRORS = 10;

/**
 * Logs only the named fields of an error and of its causes. Libraries attach tenant data to errors:
 * query parameters, the row that violated a constraint, request options.
 */
export function loggedError(thrown: unknown, depth = 0): LoggedError {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: String(thrown) };
  const { cause, errors } = thrown as { cause?: unknown; errors?: unknown };
  const fields = thrown as unknown as Record<string, unknown>;
  const logged: LoggedError = { type: thrown.constructor.name, message: withoutParameters(thrown.message) };
  if (thrown.stack !== undefined) logged.stack = withoutParameters(thrown.stack);
  for (const name of FIELDS) if (isPlain(fields[name])) logged[name] = fields[name];
  if (depth === MAX_DEPTH) return logged;
  if (cause !== undefined) logged.cause = loggedError(cause, depth + 1);
  if (Array.isArray(errors)) logged.errors = errors.slice(0, MAX_ERRORS).map((one) => loggedError(one, depth + 1));
  return logged;
}

const isPlain = (value: unknown) => typeof value === 'string' || typeof value === 'number';

/** Drizzle writes the values of a failed query into its message, after the query. */
function withoutParameters(text: string): string {
  return text.replace(/\nparams: [^]*?(?=\n {4}at |$)/, '\nparams: not logged');
}
