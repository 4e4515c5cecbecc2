import type { Principal } from '@headwater/engine';
import { HeadwaterError, ID_PREFIXES, type KeyScope } from '@headwater/shared';
import type { Endpoint } from './endpoint.ts';

type Described = Pick<Endpoint, 'method' | 'path' | 'name'>;

/** Webhooks whole, and the reads that a page about them needs. Nothing of code, keys or events. */
const OF_WEBHOOKS = /^\/v1\/(?:webhooks|subscriptions|deliveries|attempts|replays)(?:\/|$)/;
const READS_FOR_WEBHOOKS = new Set(['/v1/users/me', '/v1/users/me/webhooks', '/v1/users/me/subscriptions']);
/**
 * The changes of a deploy from a pipeline, and the reads that it needs to find what is
 * there. Nothing that runs code at once, deletes, or tells events.
 */
const DEPLOYING = new Set([
  ...['/v1/components', '/v1/components/{id}/publish', '/v1/registry/import'].map((path) => `post ${path}`),
  ...['/v1/sources', '/v1/workflows', '/v1/workflows/{id}/deploy'].map((path) => `post ${path}`),
  ...['/v1/sources/{id}', '/v1/workflows/{id}'].map((path) => `put ${path}`),
  ...['/v1/components', '/v1/components/{id}', '/v1/components/registry', '/v1/components/registry/{id}'].map(
    (path) => `get ${path}`,
  ),
  ...['/v1/registry/imports/{id}', '/v1/users/me', '/v1/users/me/sources', '/v1/users/me/workflows'].map(
    (path) => `get ${path}`,
  ),
  ...['/v1/sources', '/v1/sources/{id}', '/v1/workflows', '/v1/workflows/{id}'].map((path) => `get ${path}`),
  'get /v1/workflows/{id}/deployments',
]);
/** The routes of a key for one resource, by the prefix of its id. */
const FAMILIES = {
  [ID_PREFIXES.source]: 'sources',
  [ID_PREFIXES.workflow]: 'workflows',
  [ID_PREFIXES.webhook]: 'webhooks',
};
const PUBLISHING = new Set(['/v1/events', '/v1/sources/{id}/events']);

/**
 * Throws FORBIDDEN, with the scopes that would do, where the key of the caller may not use the
 * endpoint.
 */
export function requireScope({ scopes, resource }: Principal, endpoint: Described, id = ''): void {
  if (resource !== undefined) requireResource(resource, endpoint, id);
  if (scopes === undefined) return;
  const enough = scopesFor(endpoint);
  if (enough.some((scope) => scopes.includes(scope))) return;
  const { method, path } = endpoint;
  throw new HeadwaterError(
    'FORBIDDEN',
    `The scope of this API key is ${scopes.join(', ')}; ${method.toUpperCase()} ${path} needs ${enough.join(' or ')}`,
  );
}

function requireResource(resource: string, { method, path }: Described, id: string): void {
  const family = Object.entries(FAMILIES).find(([prefix]) => resource.startsWith(prefix))?.[1];
  const isOwn = id === resource && path.startsWith(`/v1/${family}/{id}`);
  if (isOwn || path === '/v1/users/me') return;
  throw new HeadwaterError(
    'FORBIDDEN',
    `This API key is for ${resource} alone; ${method.toUpperCase()} ${path} needs a key without that limit`,
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
    ...(DEPLOYING.has(`${method} ${path}`) ? (['deploy'] as const) : []),
    ...(OF_WEBHOOKS.test(path) || (isRead && READS_FOR_WEBHOOKS.has(path)) ? (['webhooks'] as const) : []),
  ];
}
