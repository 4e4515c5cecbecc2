import type { ApiContext } from '../environment.ts';
import { htmlPage, PAGE_HEADERS } from '../html-page.ts';
import type { StaticFile, WebFiles } from './static-files.ts';

const ASSETS_PATH = '/assets/';
/** File names contain a hash of the content. */
const FOREVER = 'public, max-age=31536000, immutable';

/**
 * Nothing from anywhere else, no script in the page itself, no framing. Styles may be inline: the
 * editor writes a style element of its own.
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
];

/** A link with a key leads here: it stays in the part of the URL that no request has. */
const PORTAL_PATH = '/portal';

/** `frameOrigins`: origins that may show the page in a frame. */
function pageSecurity(frameOrigins: readonly string[]): Record<string, string> {
  const isFramed = frameOrigins.length > 0;
  return {
    'cache-control': 'no-cache',
    'content-security-policy': [...POLICY, `frame-ancestors ${isFramed ? frameOrigins.join(' ') : "'none'"}`].join(
      '; ',
    ),
    'referrer-policy': 'same-origin',
    // It knows no list, and where both are there browsers obey the policy.
    ...(isFramed ? {} : { 'x-frame-options': 'DENY' }),
    'cross-origin-opener-policy': 'same-origin-allow-popups',
  };
}

/** True for a browser that asks for a page, and not for a program that asks for data. */
function wantsPage(c: ApiContext): boolean {
  const isRead = c.req.method === 'GET' || c.req.method === 'HEAD';
  return isRead && /\btext\/html\b/i.test(c.req.header('accept') ?? '');
}

/**
 * Serves the UI's hashed files, and its page at every other path that a browser requests. The UI
 * itself resolves these paths. Undefined for paths of the API.
 */
export function answerWeb(
  c: ApiContext,
  files: WebFiles | undefined,
  portalFrameOrigins: readonly string[] = [],
): Response | undefined {
  const { path, method } = c.req;
  if (path.startsWith(ASSETS_PATH) && (method === 'GET' || method === 'HEAD')) {
    const file = files?.find(path.slice(1));
    if (file === undefined) return undefined;
    c.set('route', ASSETS_PATH);
    return answerFile(c, file, { 'cache-control': FOREVER });
  }
  if (!wantsPage(c) || /^\/(v1|e|oauth|resume|cancel|assets)(\/|$)/.test(path)) return undefined;
  c.set('route', 'web');
  const frameOrigins = path === PORTAL_PATH ? portalFrameOrigins : [];
  if (files !== undefined) return answerFile(c, files.page, pageSecurity(frameOrigins));
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
