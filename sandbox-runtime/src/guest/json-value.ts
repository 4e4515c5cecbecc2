import { stringifyJson } from './intrinsics.ts';

/**
 * Value of a component as JSON. Throws TypeError for a value that JSON cannot hold; `what` begins
 * its message.
 */
export function toJson(what: string, value: unknown): string {
  let json: string | undefined;
  try {
    json = stringifyJson(value);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it cannot be read';
    throw new TypeError(`${what} cannot be turned into JSON: ${reason}`, { cause });
  }
  if (json !== undefined) return json;
  const kind = value === undefined ? 'undefined' : `a ${typeof value}`;
  throw new TypeError(`${what} cannot be turned into JSON: it is ${kind}`);
}
