import { type FieldError, HeadwaterError, LIMITS } from '@headwater/shared';
import type { WebhookUpdate } from '../contract.ts';
import { hasLongHost } from '../egress/long-host.ts';

/**
 * Throws INVALID_REQUEST with everything that is wrong with the fields given. Whether the URL's address may be reached is
 * not asked here but at every attempt: it changes with DNS and with what the operator allows.
 */
export function validateWebhook(fields: WebhookUpdate): void {
  const errors: FieldError[] = [];
  const check = (path: string, message: string | undefined) => {
    if (message !== undefined) errors.push({ path, message });
  };
  if (fields.url !== undefined) check('url', findUrlFault(fields.url));
  check('name', findTextFault(fields.name, LIMITS.maxNameChars));
  check('description', findTextFault(fields.description, LIMITS.maxDescriptionChars));
  if (fields.format !== undefined && fields.format !== 'raw' && fields.format !== 'envelope') {
    check('format', 'must be raw or envelope');
  }
  throwFields(errors);
}

export function throwFields(errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  const message = errors.map((error) => `${error.path} ${error.message}`).join('; ');
  throw new HeadwaterError('INVALID_REQUEST', message, { fields: errors });
}

export function findTextFault(text: string | undefined, maxChars: number): string | undefined {
  if (text === undefined) return undefined;
  if (text.length > maxChars) return `must have at most ${maxChars} characters`;
  // Postgres has no NUL in text, and takes no half of a surrogate pair in JSON.
  if (text.includes('\0')) return 'must not hold the NUL character';
  return text.isWellFormed() ? undefined : 'must not hold half of a surrogate pair';
}

function findUrlFault(text: string): string | undefined {
  const fault = findTextFault(text, LIMITS.maxUrlChars);
  if (fault !== undefined) return fault;
  if (text.trim() === '') return 'is required: the http or https address that receives the events';
  // Before it is read, which takes the thread; and each delivery would be tried in vain.
  if (hasLongHost(text)) return `must not name a host of more than ${LIMITS.maxUrlHostChars} characters`;
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    return 'must be an absolute http or https URL with a host';
  }
  // They would be shown wherever the URL is; what proves the sender is the signature.
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  return undefined;
}
