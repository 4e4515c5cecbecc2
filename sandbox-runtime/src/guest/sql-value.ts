import { isObjectValue } from './resolve-prop.ts';

/**
 * A `sql` prop as components read it: `query` and `params` to run, and `value`, the text that was
 * entered. A bare string is a query without parameters.
 */
export function sqlValue(configured: unknown): unknown {
  if (typeof configured === 'string') return { value: configured, query: configured, params: [] };
  if (!isObjectValue(configured)) return configured;
  const { value, query, params } = configured;
  return { ...configured, value: value ?? query, query: query ?? value, params: params ?? [] };
}
