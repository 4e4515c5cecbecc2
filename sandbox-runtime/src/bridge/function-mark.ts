/** Stands in an outline for a function where a prop must have a value. */
export const FUNCTION_MARK = { $function: true } as const;

export function isFunctionMark(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '$function' in value && value.$function === true;
}
