import { type FieldError, HeadwaterError, KEY_SCOPES, LIMITS, type PlatformLimitName } from '@headwater/shared';
import { type AccountChange, findTextFault, type NewApiKey } from '../contract/index.ts';

/** Throws INVALID_REQUEST with everything that is wrong. */
export function validateAccount(input: { name: string; email?: string }): void {
  reject([...nameErrors('name', input.name), ...emailErrors(input.email)], 'The account is not valid');
}

export function validateAccountChange({ name, email }: AccountChange): void {
  const ofName = name === undefined ? [] : nameErrors('name', name);
  reject([...ofName, ...emailErrors(email ?? undefined)], 'The change of the account is not valid');
}

export function validateKey({ name, scopes, expiresAt }: NewApiKey): void {
  const errors = nameErrors('name', name);
  if (scopes?.length === 0) errors.push({ path: 'scopes', message: `needs at least one of ${KEY_SCOPES.join(', ')}` });
  if (expiresAt !== undefined && expiresAt.getTime() <= Date.now())
    errors.push({ path: 'expires_at', message: 'must be in the future, in epoch seconds' });
  reject(errors, 'The API key is not valid');
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
