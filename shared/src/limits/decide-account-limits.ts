import { ACCOUNT_LIMITS, type AccountLimitName, type AccountLimits } from './account-limits.ts';

/** The defaults, overridden by the given limits. */
export function accountLimits(...overrides: readonly Partial<AccountLimits>[]): AccountLimits {
  const entries = Object.entries(ACCOUNT_LIMITS).map(([name, spec]) => [name, spec.default]);
  const defaults = Object.fromEntries(entries) as AccountLimits;
  return overrides.reduce<AccountLimits>((limits, override) => ({ ...limits, ...override }), defaults);
}

/**
 * Problems of limits before they are set, one entry each: unknown names, and values that are not
 * whole numbers within the bounds. Null is valid and removes a value.
 */
export function findLimitProblems(given: Readonly<Record<string, unknown>>): { path: string; message: string }[] {
  return Object.entries(given).flatMap(([path, value]) => {
    if (!isLimitName(path)) return [{ path, message: 'is not the name of an account limit' }];
    const { min, max, unit } = ACCOUNT_LIMITS[path];
    if (value === null || (Number.isInteger(value) && Number(value) >= min && Number(value) <= max)) return [];
    return [{ path, message: `must be a whole number from ${min} to ${max} (${unit})` }];
  });
}

/** Drops unknown limits, and clamps stored values to the present range. */
export function keepKnownLimits(stored: Readonly<Record<string, unknown>>): Partial<AccountLimits> {
  const known: Partial<AccountLimits> = {};
  for (const [name, value] of Object.entries(stored)) {
    if (!isLimitName(name) || typeof value !== 'number') continue;
    const { min, max } = ACCOUNT_LIMITS[name];
    known[name] = Math.min(max, Math.max(min, value));
  }
  return known;
}

function isLimitName(name: string): name is AccountLimitName {
  return Object.hasOwn(ACCOUNT_LIMITS, name);
}
