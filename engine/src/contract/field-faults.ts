import {
  type ExceededLimit,
  type Fault,
  type FieldError,
  HeadwaterError,
  LIMITS,
  platformLimit,
  type PlatformLimitName,
} from '@headwater/shared';

/** With the first limit that one of them goes over. */
export function throwFields(errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  const message = errors.map((error) => `${error.path} ${error.message}`).join('; ');
  throw new HeadwaterError('INVALID_REQUEST', message, { fields: errors });
}

/** Throws INVALID_REQUEST for one parameter. */
export function refuseField(path: string, message: string): never {
  throw new HeadwaterError('INVALID_REQUEST', `${path} ${message}`, { fields: [{ path, message }] });
}

/** `maxChars`: the limit that says how long it may be. */
export function findTextFault(text: string | undefined, maxChars: PlatformLimitName): Fault | undefined {
  if (text === undefined) return undefined;
  if (text.length > LIMITS[maxChars]) {
    const limit = platformLimit(maxChars, text.length);
    return { message: `must have at most ${limit.value} characters`, limit };
  }
  // Postgres has no NUL in text, and takes no half of a surrogate pair in JSON.
  if (text.includes('\0')) return { message: 'must not hold the NUL character' };
  return text.isWellFormed() ? undefined : { message: 'must not hold half of a surrogate pair' };
}

/** `limit`: what its host goes over. */
export function longHostFault(limit: ExceededLimit): Fault {
  return { message: `must not name a host of more than ${limit.value} characters`, limit };
}

export type GivenCount = number | null | undefined;

/**
 * The problem of a whole number, with the limit if the number exceeds it. `max`: the limit in the
 * unit of the number.
 */
export function findCountFault(
  value: GivenCount,
  min: number,
  limit: ExceededLimit,
  max = limit.value,
): Fault | undefined {
  if (value === undefined || value === null || (Number.isInteger(value) && value >= min && value <= max))
    return undefined;
  const message = `must be a whole number from ${min} to ${max}`;
  return limit.used > limit.value ? { message, limit } : { message };
}
