/**
 * Whether jsonb takes a text that JSON.stringify has made: neither a NUL nor half of a surrogate
 * pair is in it, as escapes.
 */
export function isStorableJson(json: string): boolean {
  return !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(json);
}
