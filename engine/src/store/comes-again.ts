import { isDataError } from './batcher.ts';
import { isDatabaseAway } from './lost-connection.ts';

/**
 * What is no fault of the database or of the way to it: data that Postgres refuses, texts that are longer than V8 can join, whatever else
 * goes wrong here. It would fail each time, on each node; of the database's own faults the next try may know nothing.
 */
export function comesAgain(error: unknown): boolean {
  if (isDataError(error)) return true;
  const { code } = (error ?? {}) as { code?: unknown };
  return !isDatabaseAway(error) && !(typeof code === 'string' && OF_DATABASE.test(code));
}

/** An SQLSTATE, and what sockets and the look-up of names say; Node's own have an underscore, as those of the client for what it is given. */
const OF_DATABASE = /^(?:[0-9A-Z]{5}|E[A-Z0-9]+)$/;
