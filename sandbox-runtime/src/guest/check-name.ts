import { isBuiltInChannel } from '../bridge/built-in-channels.ts';

/**
 * Throws for a name, key or id that the database cannot tell from another: it takes neither a NUL
 * character nor half of a surrogate pair, so two that differ in these alone would become one.
 */
export function requireStorable(text: string, what: string): void {
  if (!text.includes('\0') && text.isWellFormed()) return;
  throw new TypeError(`${what} contains a NUL character or half of a surrogate pair, which cannot be stored`);
}

/** The name of a channel that a component may emit on. */
export function requireOwnChannel(name: string, what: string): void {
  if (isBuiltInChannel(name))
    throw new TypeError(`${what}: ${name} is a built-in channel, which only the system writes to`);
  requireStorable(name, what);
}
