import { z } from '@hono/zod-openapi';
import type { OAuthCallback } from '@headwater/engine';
import { answerPrefetch } from '../answer-prefetch.ts';
import type { App, AppOptions } from '../app-options.ts';
import { auditedRequest } from '../audit.ts';
import type { ApiContext } from '../environment.ts';
import { PAGE_HEADERS } from '../html-page.ts';
import { oauthPage } from '../oauth-page.ts';

export const OAUTH_CALLBACK_PATH = '/oauth/callback';

type OAuthOptions = Pick<AppOptions, 'engine' | 'clientFacts'>;

/**
 * OAuth callback for browsers. It needs no key: the state identifies the flow. The query contains a
 * code, so it is never logged or sent on as a referrer.
 */
export function mountOAuth(app: App, options: OAuthOptions): void {
  app.get(OAUTH_CALLBACK_PATH, async (c) => {
    c.set('route', OAUTH_CALLBACK_PATH);
    // A state works once.
    return answerPrefetch(c) ?? finish(c, options);
  });
}

async function finish(c: ApiContext, { engine, clientFacts }: OAuthOptions): Promise<Response> {
  const callback = callbackOf(new URL(c.req.url).searchParams);
  const request = auditedRequest(c, clientFacts);
  const outcome = await engine.connectedAccounts.finishOAuth(callback, ({ accountId, userId, app }, connect) => {
    const entry = { ...request, accountId, actorId: userId, actorName: userId, action: 'finishOAuthFlow' };
    const made = (id: string) => [{ ...entry, thing: id, after: { app } }];
    return engine.audit.change({ ...entry, thing: OAUTH_CALLBACK_PATH }, connect, made);
  });
  if (outcome.redirect !== undefined) return c.body(null, 303, { ...PAGE_HEADERS, location: outcome.redirect });
  return c.body(oauthPage(outcome), outcome.ok ? 200 : 400, {
    ...PAGE_HEADERS,
    'content-type': 'text/html; charset=utf-8',
  });
}

/**
 * Ignores a parameter that occurs twice: the provider and the node might each trust a different
 * value.
 */
function callbackOf(query: URLSearchParams): OAuthCallback {
  const one = (name: string) => {
    const [first, ...rest] = query.getAll(name);
    return first === undefined || rest.length > 0 ? undefined : first;
  };
  const names = { state: 'state', code: 'code', issuer: 'iss', error: 'error', errorDescription: 'error_description' };
  const found = Object.entries(names).map(([key, name]) => [key, one(name)] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

export function registerOAuth(registry: App['openAPIRegistry']): void {
  const text = z.string().optional();
  registry.registerPath({
    method: 'get',
    path: OAUTH_CALLBACK_PATH,
    operationId: 'finishOAuthFlow',
    tags: ['Connected accounts'],
    summary: 'Where OAuth providers send browsers back to',
    description: 'For browsers. Register it as the redirect URI of OAuth clients.',
    security: [],
    request: {
      query: z.object({
        state: z.string().describe('The flow that it belongs to.'),
        code: text.describe('What becomes the tokens.'),
        iss: text.describe('The provider (RFC 9207).'),
        error: text.describe('Why there is no code.'),
        error_description: text.describe('The same for people.'),
      }),
    },
    responses: {
      200: { description: 'The account is connected; a page says so.' },
      303: { description: 'To the `redirect` of the flow, with `app`, and `connected_account_id` or `error`.' },
      400: { description: 'It is not; a page says why.', content: { 'text/html': { schema: z.string() } } },
      503: { description: 'A browser asked beforehand, with `sec-purpose: prefetch`: nothing is done.' },
    },
  });
}
