import type { IncomingMessage } from 'node:http';

/** Path prefix of this instance's URLs: `/`, or `/hw/` for `https://example.com/hw`. */
export function basePathOf(publicUrl: string): string {
  const { pathname } = new URL(publicUrl);
  return pathname.endsWith('/') ? pathname : `${pathname}/`;
}

/**
 * A proxy may pass on the path as clients sent it, or without the base path: both lead to the same
 * place.
 */
export function stripBasePath(request: IncomingMessage, basePath: string): void {
  const { url = '/' } = request;
  if (basePath === '/') return;
  if (url.startsWith(basePath)) request.url = url.slice(basePath.length - 1);
  else if (url === basePath.slice(0, -1) || url.startsWith(`${basePath.slice(0, -1)}?`)) {
    request.url = `/${url.slice(basePath.length - 1)}`;
  }
}
