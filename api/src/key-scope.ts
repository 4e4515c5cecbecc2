import type { Principal } from '@headwater/engine';
import { HeadwaterError, type KeyScope } from '@headwater/shared';
import type { Endpoint } from './endpoint.ts';

type Described = Pick<Endpoint, 'method' | 'path' | 'name'>;

/** Webhooks whole, and the reads that a page about them needs. Nothing of code, keys or events. */
const OF_WEBHOOKS = /^\/v1\/(?:webhooks|subscriptions|deliveries|attempts|replays)(?:\/|$)/;
const READS_FOR_WEBHOOKS = new Set(['/v1/users/me', '/v1/users/me/webhooks', '/v1/users/me/subscriptions']);
const PUBLISHING = new Set(['/v1/events', '/v1/sources/{id}/events']);

/**
 * Throws FORBIDDEN, with the scopes that would do, where the key of the caller may not use the
 * endpoint.
 */
export function requireScope({ scopes }: Principal, endpoint: Described): void {
  if (scopes === undefined) return;
  const enough = scopesFor(endpoint);
  if (enough.some((scope) => scopes.includes(scope))) return;
  const { method, path } = endpoint;
  throw new HeadwaterError(
    'FORBIDDEN',
    `The scope of this API key is ${scopes.join(', ')}; ${method.toUpperCase()} ${path} needs ${enough.join(' or ')}`,
  );
}

/** For what else reads secrets. */
export function requireFull({ scopes }: Principal): void {
  if (scopes === undefined) return;
  throw new HeadwaterError('FORBIDDEN', `The scope of this API key is ${scopes.join(', ')}; credentials need full`);
}

/** For what decides which code of the account runs. */
export function requireCode({ scopes }: Principal): void {
  if (scopes === undefined) return;
  const message = `The scope of this API key is ${scopes.join(', ')}; to choose the code of a transform it needs full`;
  throw new HeadwaterError('FORBIDDEN', message);
}

/**
 * Whether the answer to the caller may contain secrets, such as the signing secret of a webhook.
 */
export function mayReadSecrets({ scopes }: Principal): boolean {
  return scopes === undefined || scopes.includes('webhooks');
}

function scopesFor({ method, path }: Described): KeyScope[] {
  // A listener takes what others would get, with headers that are secret.
  const isRead = method === 'get' && path !== '/v1/webhooks/{id}/tunnel';
  return [
    'full',
    ...(isRead ? (['read'] as const) : []),
    ...(method === 'post' && PUBLISHING.has(path) ? (['publish'] as const) : []),
    ...(OF_WEBHOOKS.test(path) || (isRead && READS_FOR_WEBHOOKS.has(path)) ? (['webhooks'] as const) : []),
  ];
}
