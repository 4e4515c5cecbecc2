import type { Principal } from '@headwater/engine';
import {
  hasRight,
  HeadwaterError,
  ID_PREFIXES,
  type KeyScope,
  type Right,
  type Role,
  rightsOf,
  rolesWith,
} from '@headwater/shared';
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
/** A member's own: what each may do whose session it is. An API key has none of it. */
const OWN = /^\/v1\/users\/me\/(?:sessions|password|passkeys)(?:\/|$)/;
const OF_KEYS = /^\/v1\/(?:api_keys|accounts\/\{id\}\/portal_links)(?:\/|$)/;
const OF_MEMBERS = /^\/v1\/members(?:\/|$)/;
/** Reads what the key may read: the key is looked at again when a stream is opened. */
const STREAM_TOKENS = '/v1/streams/token';
const PUBLISHING = new Set(['/v1/events', '/v1/sources/{id}/events']);

/**
 * Throws FORBIDDEN, with the scopes or roles that would do, where the caller may not use the
 * endpoint. The one place that decides this for every route.
 */
export function requireScope({ scopes, resource, member, userId }: Principal, endpoint: Described, id = ''): void {
  if (member !== undefined) {
    const isOwn = isOfMember(endpoint) || (endpoint.name === 'removeMember' && id === userId);
    return isOwn ? undefined : requireRole(member.role, endpoint);
  }
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

/** The rights of a key in the whole account, as a member would have them. */
export function keyRights({ scopes = ['full'], resource }: Pick<Principal, 'scopes' | 'resource'>): Right[] {
  if (resource !== undefined) return [];
  if (scopes.includes('full')) return rightsOf('admin');
  return scopes.includes('read') ? rightsOf('viewer') : [];
}

/** True for routes of the person, whatever becomes of the account. */
export function isOfMember({ path }: Pick<Described, 'path'>): boolean {
  return OWN.test(path);
}

function requireRole(role: Role, endpoint: Described): void {
  const right = rightFor(endpoint);
  if (hasRight(role, right)) return;
  const { method, path } = endpoint;
  throw new HeadwaterError(
    'FORBIDDEN',
    `Your role in this account is ${role}; ${method.toUpperCase()} ${path} needs ${rolesWith(right).join(' or ')}`,
  );
}

/** The right to change an owner depends on the owners there are: see People. */
function rightFor({ method, path }: Described): Right {
  if (isRead({ method, path })) return 'read';
  if (OF_KEYS.test(path)) return 'keys';
  return OF_MEMBERS.test(path) ? 'members' : 'change';
}

// A listener takes what others would get, with headers that are secret.
function isRead({ method, path }: Pick<Described, 'method' | 'path'>): boolean {
  return path === STREAM_TOKENS || (method === 'get' && path !== '/v1/webhooks/{id}/tunnel');
}

function requireResource(resource: string, { method, path }: Described, id: string): void {
  const family = Object.entries(FAMILIES).find(([prefix]) => resource.startsWith(prefix))?.[1];
  const isOwn = id === resource && path.startsWith(`/v1/${family}/{id}`);
  if (isOwn || path === '/v1/users/me' || path === STREAM_TOKENS) return;
  throw new HeadwaterError(
    'FORBIDDEN',
    `This API key is for ${resource} alone; ${method.toUpperCase()} ${path} needs a key without that limit`,
  );
}

/** For what else reads secrets. */
export function requireFull(who: Principal): void {
  if (who.scopes === undefined) return;
  throw new HeadwaterError('FORBIDDEN', `${reachOf(who)}; credentials need ${enoughFor(who)}`);
}

/** For what decides which code of the account runs. */
export function requireCode(who: Principal): void {
  if (who.scopes === undefined) return;
  const message = `${reachOf(who)}; to choose the code of a transform it needs ${enoughFor(who)}`;
  throw new HeadwaterError('FORBIDDEN', message);
}

/**
 * Whether the caller gets what components emit, and nothing of the channels that tell of their
 * runs.
 */
export function hearsEmittedAlone({ scopes }: Principal): boolean {
  return scopes !== undefined && !scopes.includes('full') && !scopes.includes('read');
}

/** For what sends events of a channel, or of a pattern of channels. */
export function requireChannel(who: Principal, channel = ''): void {
  if (!hearsEmittedAlone(who) || !channel.startsWith('$') || channel === '$webhooks') return;
  throw new HeadwaterError(
    'FORBIDDEN',
    `${reachOf(who)}; ${channel} tells of runs, and needs full or read: ask for a channel of your sources`,
  );
}

function reachOf({ member, scopes = [] }: Principal): string {
  return member === undefined
    ? `The scope of this API key is ${scopes.join(', ')}`
    : `Your role in this account is ${member.role}`;
}

function enoughFor({ member }: Principal): string {
  return member === undefined ? 'full' : rolesWith('change').join(' or ');
}

/**
 * Whether the answer to the caller may contain secrets, such as the signing secret of a webhook.
 */
export function mayReadSecrets({ scopes }: Principal): boolean {
  return scopes === undefined || scopes.includes('webhooks');
}

function scopesFor({ method, path }: Described): KeyScope[] {
  const reads = isRead({ method, path });
  return [
    'full',
    ...(reads ? (['read'] as const) : []),
    ...(method === 'post' && PUBLISHING.has(path) ? (['publish'] as const) : []),
    ...(DEPLOYING.has(`${method} ${path}`) ? (['deploy'] as const) : []),
    ...(OF_WEBHOOKS.test(path) || (reads && READS_FOR_WEBHOOKS.has(path)) ? (['webhooks'] as const) : []),
  ];
}
