import { isDataError } from './batcher.ts';
import { codeOf, isDatabaseAway, wasRolledBack } from './lost-connection.ts';

/**
 * Data that Postgres refuses or of which its client can make no statement, texts that are longer
 * than V8 can join: it would fail each time, on each node. Of everything else the next try may know
 * nothing: what is taken for the data's fault costs a run its events.
 */
export function failsEachTime(error: unknown): boolean {
  const code = codeOf(error);
  if (isDataError(error) || OF_DATA.has(code)) return true;
  return code === '' && (error instanceof RangeError || error instanceof TypeError);
}

/**
 * Whether a batch that failed with it is to be committed one by one: what the database refuses for
 * any reason but its own state may be the doing of one item, and the others are not to wait for
 * that one.
 */
export function mayBeOneItems(error: unknown): boolean {
  return failsEachTime(error) || (SQLSTATE.test(codeOf(error)) && !isDatabaseAway(error) && !wasRolledBack(error));
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Errors of the client, and of Node.js when it encodes texts. */
const OF_DATA = new Set([
  'MAX_PARAMETERS_EXCEEDED',
  'UNDEFINED_VALUE',
  'ERR_STRING_TOO_LONG',
  'ERR_BUFFER_TOO_LARGE',
  'ERR_OUT_OF_RANGE',
  'ERR_INVALID_ARG_TYPE',
]);

/**
 * Whether it would have waited longer than it may (lock_timeout) for what another transaction has
 * locked. It left nothing behind.
 */
export function wasHeldUp(error: unknown): boolean {
  return codeOf(error) === '55P03';
}
