import type { ExceededLimit } from '@headwater/shared';
import type { HopRequest } from './guest-request.ts';
import { longHostOf } from './long-host.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Dropped with the body (https://fetch.spec.whatwg.org/#request-body-header-name). */
const BODY_HEADERS = new Set(['content-encoding', 'content-language', 'content-location', 'content-type']);
/** Credentials for one origin must not reach another. */
const CREDENTIALS = new Set(['authorization', 'cookie', 'proxy-authorization']);

export type Redirect =
  | { kind: 'none' }
  | { kind: 'invalid'; message: string; limit?: ExceededLimit }
  | { kind: 'follow'; request: HopRequest };

/**
 * The request that a redirect leads to, by https://fetch.spec.whatwg.org/#http-redirect-fetch. The
 * caller counts redirects.
 */
export function followRedirect(from: HopRequest, status: number, location: string | undefined): Redirect {
  if (!REDIRECTS.has(status) || location === undefined) return { kind: 'none' };
  const limit = longHostOf(location);
  if (limit !== undefined) {
    const message = `${from.url.host} redirected to a host of more than ${limit.value} characters`;
    return { kind: 'invalid', message, limit };
  }
  const url = URL.parse(location, from.url.href);
  if (url === null) return { kind: 'invalid', message: `${from.url.host} redirected to something that is not a URL` };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { kind: 'invalid', message: `${from.url.host} redirected to a ${url.protocol} URL` };
  }
  if (url.username !== '' || url.password !== '') {
    return { kind: 'invalid', message: `${from.url.host} redirected to a URL with a user name or password` };
  }
  if (url.hash === '') url.hash = from.url.hash;
  const becomesGet =
    status === 303 ? from.method !== 'GET' && from.method !== 'HEAD' : status <= 302 && from.method === 'POST';
  const isForeign = url.origin !== from.url.origin;
  const headers = from.headers.filter(
    ([name]) => !(becomesGet && BODY_HEADERS.has(name)) && !(isForeign && CREDENTIALS.has(name)),
  );
  const method = becomesGet ? 'GET' : from.method;
  return { kind: 'follow', request: { url, method, headers, body: becomesGet ? undefined : from.body } };
}
