import { LIMITS } from '@headwater/shared';

/** Whatever is in a smaller text, it is parsed before anybody notices. */
const SMALL_CHARS = 128 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * What a JSON text has too much of; undefined for one that may be parsed. Six megabytes of `[],` are two million lists, which take the
 * node's thread a second, while six megabytes of code take it some milliseconds. Of text that is no JSON it says nothing useful.
 */
export function findTooMany(text: string): string | undefined {
  if (text.length <= SMALL_CHARS) return undefined;
  let values = 1;
  let lists = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(text, at);
    else if (code === COMMA) values += 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      lists += 1;
      values += 1;
    }
    if (lists > LIMITS.maxApiJsonLists) return `has more than ${LIMITS.maxApiJsonLists} lists and objects`;
    if (values > LIMITS.maxApiJsonValues) return `has more than ${LIMITS.maxApiJsonValues} values`;
  }
  return undefined;
}

/** The end of the text where the string has none. */
function closingQuote(text: string, open: number): number {
  for (let quote = text.indexOf('"', open + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((quote - first) % 2 === 0) return quote;
  }
  return text.length;
}
