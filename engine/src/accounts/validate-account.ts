import { type FieldError, HeadwaterError, LIMITS, type PlatformLimitName } from '@headwater/shared';
import { findTextFault } from '../field-faults.ts';

/** Throws INVALID_REQUEST with everything that is wrong. */
export function validateAccount(input: { name: string; email?: string }): void {
  reject([...nameErrors('name', input.name), ...emailErrors(input.email)], 'The account is not valid');
}

export function validateEmail(email: string): void {
  reject(emailErrors(email), 'The email address is not valid');
}

export function validateKeyName(name: string): void {
  reject(nameErrors('name', name), 'The API key is not valid');
}

function reject(fields: FieldError[], message: string): void {
  if (fields.length > 0) throw new HeadwaterError('INVALID_REQUEST', message, { fields });
}

function nameErrors(path: string, name: string): FieldError[] {
  if (name.trim() === '') return [{ path, message: 'must not be empty' }];
  if (name.length > LIMITS.maxNameChars) return tooLong(path, name, 'maxNameChars');
  return unstorable(name) ? [{ path, message: 'must not contain NUL characters or half surrogate pairs' }] : [];
}

function emailErrors(email: string | undefined): FieldError[] {
  const path = 'email';
  if (email === undefined) return [];
  if (email.length > LIMITS.maxEmailChars) return tooLong(path, email, 'maxEmailChars');
  // Whether mail arrives there is for a mail to find out; this keeps out what cannot be one.
  return /^[^\s@\0]+@[^\s@\0]+$/.test(email) && !unstorable(email)
    ? []
    : [{ path, message: 'must be an email address' }];
}

function tooLong(path: string, text: string, name: PlatformLimitName): FieldError[] {
  const fault = findTextFault(text, name);
  return fault === undefined ? [] : [{ path, ...fault }];
}

/** Postgres text holds neither. */
function unstorable(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}
