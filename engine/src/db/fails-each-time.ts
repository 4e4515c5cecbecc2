import { isDataError } from './batcher.ts';
import { codeOf, isDatabaseAway, wasRolledBack } from './lost-connection.ts';

/**
 * Data that Postgres refuses or that its client cannot encode, or texts longer than V8 can join.
 * Such a statement fails each time, on each node. Any other failure may be temporary: treating it
 * as a fault of the data costs a run its events.
 */
export function failsEachTime(error: unknown): boolean {
  const code = codeOf(error);
  if (isDataError(error) || OF_DATA.has(code)) return true;
  return code === '' && (error instanceof RangeError || error instanceof TypeError);
}

/**
 * Whether a batch that failed with this error is committed one by one. If the database refuses it
 * for any reason but its own state, one item may be at fault. The others must not wait for that
 * one.
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
 * Whether a statement exceeded lock_timeout while another transaction held the lock. It left no
 * changes.
 */
export function wasHeldUp(error: unknown): boolean {
  return codeOf(error) === '55P03';
}
