/**
 * How deep a value is nested. Stops at `limit`: the value comes from the sandbox and may be nested
 * without end.
 */
export function depthOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (limit === 0) return 1;
  let deepest = 0;
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member, limit - 1));
  return deepest + 1;
}
