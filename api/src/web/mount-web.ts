import type { ApiContext } from '../environment.ts';
import { htmlPage, PAGE_HEADERS } from '../html-page.ts';
import type { StaticFile, WebFiles } from './static-files.ts';

const ASSETS_PATH = '/assets/';
/** Their names hold a hash of what is in them. */
const FOREVER = 'public, max-age=31536000, immutable';

/**
 * Nothing from anywhere else, no script in the page itself, no framing. Styles may be inline: the editor writes a style
 * element of its own.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_SECURITY = {
  'cache-control': 'no-cache',
  'content-security-policy': POLICY,
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin-allow-popups',
};

/** True for a browser that asks for a page, and not for a program that asks for data. */
function wantsPage(c: ApiContext): boolean {
  const isRead = c.req.method === 'GET' || c.req.method === 'HEAD';
  return isRead && /\btext\/html\b/i.test(c.req.header('accept') ?? '');
}

/**
 * The hashed files of the UI, and its page at every other path that a browser asks for: the UI finds out itself what is
 * there. Undefined for paths that belong to the API.
 */
export function answerWeb(c: ApiContext, files: WebFiles | undefined): Response | undefined {
  const { path, method } = c.req;
  if (path.startsWith(ASSETS_PATH) && (method === 'GET' || method === 'HEAD')) {
    const file = files?.find(path.slice(1));
    if (file === undefined) return undefined;
    c.set('route', ASSETS_PATH);
    return answerFile(c, file, { 'cache-control': FOREVER });
  }
  if (!wantsPage(c) || /^\/(v1|e|oauth|resume|cancel|assets)(\/|$)/.test(path)) return undefined;
  c.set('route', 'web');
  if (files !== undefined) return answerFile(c, files.page, PAGE_SECURITY);
  const page = htmlPage('Headwater', ['The web UI is not built. Run “npm run build:web” and start the server again.']);
  return c.body(page, 503, { ...PAGE_HEADERS, 'content-type': 'text/html; charset=utf-8' });
}

function answerFile(c: ApiContext, file: StaticFile, headers: Record<string, string>): Response {
  const takesBrotli = /\bbr\b/.test(c.req.header('accept-encoding') ?? '');
  const base = { ...headers, 'content-type': file.type, vary: 'accept-encoding' };
  if (file.brotli !== undefined && takesBrotli) {
    return c.body(file.brotli, 200, { ...base, 'content-encoding': 'br' });
  }
  return c.body(file.plain, 200, base);
}
