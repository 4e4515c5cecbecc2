import type { ApiContext } from './environment.ts';
import { PAGE_HEADERS } from './html-page.ts';

/** By the standard, by older browsers and by those that show small pictures of pages. */
const PURPOSE_HEADERS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/**
 * A one-time link works once, so a preview or prefetch of it must have no effect. HEAD requests and
 * prefetches are answered here. Undefined for all other requests.
 */
export function answerPrefetch(c: ApiContext): Response | undefined {
  if (c.req.raw.method === 'HEAD') return c.body(null, 204, PAGE_HEADERS);
  const isEarly = PURPOSE_HEADERS.some((name) => /prefetch|preview|prerender/i.test(c.req.header(name) ?? ''));
  // Browsers do not keep a failed prefetch: they ask again when the user follows the link.
  return isEarly ? c.body(null, 503, PAGE_HEADERS) : undefined;
}
