import { parseJson } from './intrinsics.ts';

const NUMBER = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/**
 * Brings what an expression came to into the type of its prop where that loses nothing: text of a
 * number, of `true` or `false`, of JSON for objects and lists. Anything else is left as it is, for
 * the component to judge.
 */
export function coerceValue(value: unknown, type: unknown): unknown {
  if (typeof type !== 'string') return value;
  if (type.endsWith('[]')) return coerceList(value, type.slice(0, -2));
  if (typeof value !== 'string') return value;
  switch (type) {
    case 'integer':
      return coerceNumber(value, Number.isSafeInteger);
    case 'number':
      return coerceNumber(value, Number.isFinite);
    case 'boolean':
      return coerceBoolean(value);
    case 'object':
      return coerceJson(value, '{', '[');
    default:
      return value;
  }
}

function coerceList(value: unknown, type: string): unknown {
  const list = typeof value === 'string' ? coerceJson(value, '[') : value;
  return Array.isArray(list) ? list.map((item: unknown) => coerceValue(item, type)) : list;
}

function coerceNumber(text: string, isFit: (value: number) => boolean): unknown {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  return isFit(value) ? value : text;
}

function coerceBoolean(text: string): unknown {
  const word = text.trim().toLowerCase();
  return word === 'true' || (word === 'false' ? false : text);
}

function coerceJson(text: string, ...openings: string[]): unknown {
  if (!openings.includes(text.trim()[0] ?? '')) return text;
  try {
    return parseJson(text);
  } catch {
    // Text that only begins like JSON is text.
    return text;
  }
}
