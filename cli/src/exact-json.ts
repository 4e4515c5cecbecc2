const { rawJSON } = JSON as unknown as { rawJSON?: (text: string) => unknown };

/**
 * Parses JSON. A number that a double would change, such as an id of 64 bits, is one of
 * `JSON.rawJSON`, which `JSON.stringify` writes with all its digits. Node 20 has none and rounds.
 */
export function parseExactJson(text: string): unknown {
  return rawJSON === undefined ? JSON.parse(text) : JSON.parse(text, exactly);
}

/** A double holds every number of so many digits. */
const SAFE_DIGITS = 15;

// `source`: what TypeScript's types of JSON.parse do not have yet.
function exactly(_name: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  if (source.length <= SAFE_DIGITS && !/e/i.test(source)) return value;
  return String(value) === source ? value : rawJSON?.(source);
}
