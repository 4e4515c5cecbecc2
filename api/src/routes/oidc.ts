import { type AroundJoining, OidcRefusal, type OidcRefusalReason, type SignInClient } from '@headwater/engine';
import type { App, AppOptions } from '../app-options.ts';
import type { ApiContext } from '../environment.ts';
import { type Cookie, cookieScope, readOwnCookie, writeCookie } from '../web/cookie.ts';

/** Below `/oauth`, as the browser itself goes there. */
export const OIDC_PATH = '/oauth/sign-in';
const CALLBACK_PATH = `${OIDC_PATH}/callback`;
/** `Lax`: the browser comes back from another site. */
const cookieOf = (publicUrl: string): Cookie => ({
  ...cookieScope(publicUrl, OIDC_PATH),
  name: 'hw_oidc',
  seconds: 600,
  sameSite: 'Lax',
});
const MAX_QUERY_CHARS = 8_192;
/** A path of the UI and nothing else: a link must not lead elsewhere after sign-in. */
const OWN_PATH = /^\/(?![/\\])[\x21-\x7e]{0,512}$/;

/** Parts of the sign-in with a password that this one uses as well. */
export interface OidcOptions extends Pick<AppOptions, 'engine' | 'publicUrl' | 'log'> {
  clientOf(c: ApiContext): SignInClient;
  /** The id of the session of a bearer, and the cookie that signs with it. */
  begin(bearer: string): { id: string; cookie: string };
  /** Someone who joins an account is in its audit log. */
  aroundJoining(c: ApiContext): AroundJoining;
}

/**
 * Sign-in at the operator's provider, for browsers alone: two redirects. The flow is the browser's
 * to keep, sealed, so that nobody can end a sign-in that another has begun.
 */
export function mountOidc(app: App, options: OidcOptions): void {
  app.get(OIDC_PATH, async (c: ApiContext) => {
    c.set('route', OIDC_PATH);
    const from = c.req.query('from') ?? '/';
    try {
      const { url, flow } = await options.engine.people.beginOidc({ from: OWN_PATH.test(from) ? from : '/' });
      return redirect(url, [flowCookie(options.publicUrl, flow)]);
    } catch (error) {
      return refuse(c, error, options);
    }
  });
  app.get(CALLBACK_PATH, async (c: ApiContext) => {
    c.set('route', CALLBACK_PATH);
    try {
      return await finish(c, options);
    } catch (error) {
      return refuse(c, error, options);
    }
  });
}

async function finish(c: ApiContext, options: OidcOptions): Promise<Response> {
  const { search } = new URL(c.req.url);
  if (search.length > MAX_QUERY_CHARS) throw new OidcRefusal('failed', 'The answer of the provider is too large');
  const client = options.clientOf(c);
  const answer = { flow: readFlow(c, options.publicUrl), parameters: new URLSearchParams(search) };
  const { bearer, from, joined } = await options.engine.people.finishOidc(answer, client, options.aroundJoining(c));
  const { id, cookie } = options.begin(bearer);
  // In the part of the URL that no request has; without the cookie it is worth nothing.
  const hash = new URLSearchParams({ session: id, from, ...(joined === undefined ? {} : { account: joined }) });
  return redirect(`${options.publicUrl}/sign-in#${hash.toString()}`, [
    cookie,
    flowCookie(options.publicUrl, undefined),
  ]);
}

/** The page knows a sentence for each reason: a link cannot make it show a text of its own. */
function refuse(c: ApiContext, error: unknown, { publicUrl, log }: OidcOptions): Response {
  if (!(error instanceof OidcRefusal)) throw error;
  const reason: OidcRefusalReason = error.reason;
  log.warn({ err: error, reason, request_id: c.get('requestId') }, 'a sign-in at the provider was refused');
  return redirect(`${publicUrl}/sign-in#refused=${reason}`, [flowCookie(publicUrl, undefined)]);
}

function redirect(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 302, headers });
}

export function flowCookie(publicUrl: string, flow: string | undefined): string {
  return writeCookie(cookieOf(publicUrl), flow);
}

function readFlow(c: ApiContext, publicUrl: string): string {
  const flow = readOwnCookie(c.req.header('cookie'), cookieOf(publicUrl));
  if (flow === undefined) throw new OidcRefusal('expired', 'No sign-in is under way in this browser');
  return flow;
}
