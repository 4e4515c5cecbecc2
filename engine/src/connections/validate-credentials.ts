import { type FieldError, HeadwaterError, platformLimit } from '@headwater/shared';
import type { AppDefinition, AppField } from '../contract/index.ts';

/**
 * Checks values against an app's fields and fills in defaults. Throws INVALID_REQUEST with every
 * wrong one; `path` is what the caller calls them, `credentials` or `fields`.
 */
export function validateFields(
  app: AppDefinition,
  given: Readonly<Record<string, unknown>>,
  path: 'credentials' | 'fields',
): Record<string, string> {
  const faults: FieldError[] = [];
  const values: [string, string][] = [];
  for (const field of app.fields) {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : undefined;
    const fault = faultOf(field, value);
    if (fault !== undefined) faults.push({ path: `${path}.${field.name}`, message: fault });
    else {
      const text = typeof value === 'string' && value !== '' ? value.trim() : field.default;
      if (text !== undefined) values.push([field.name, text]);
    }
  }
  const known = new Set(app.fields.map((field) => field.name));
  for (const name of Object.keys(given)) {
    // A misspelt optional one would be missed only when something fails.
    if (!known.has(name))
      faults.push({ path: `${path}.${name}`, message: `is not a field of ${app.slug}${hint(app)}` });
  }
  const bytes = values.reduce((sum, [, value]) => sum + Buffer.byteLength(value), 0);
  const limit = platformLimit('maxCredentialsBytes', bytes);
  if (bytes > limit.value)
    faults.push({ path, message: `has ${bytes} bytes; at most ${limit.value} are allowed`, limit });
  if (faults.length > 0) {
    const list = faults.map((fault) => `${fault.path} ${fault.message}`).join('; ');
    throw new HeadwaterError('INVALID_REQUEST', `The ${path} are not valid: ${list}`, { fields: faults });
  }
  return Object.fromEntries(values);
}

function faultOf(field: AppField, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return field.optional === true ? undefined : 'is required';
  if (typeof value !== 'string') return `must be a string, not ${Array.isArray(value) ? 'array' : typeof value}`;
  if (value.trim() === '') return 'must not be empty';
  // Postgres keeps it sealed, but a header or URL made of it would break.
  return value.includes('\0') || !value.isWellFormed() ? 'holds characters that no credential has' : undefined;
}

function hint(app: AppDefinition): string {
  const names = app.fields.map((field) => field.name);
  return names.length === 0 ? ', which has none' : `, which has ${names.join(', ')}`;
}
