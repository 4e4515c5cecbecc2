import { z } from '@hono/zod-openapi';
import type { SignInClient } from '@headwater/engine';
import { LIMITS, randomToken } from '@headwater/shared';
import type { App, AppOptions } from '../app-options.ts';
import type { ApiContext } from '../environment.ts';
import { readJsonInput } from '../parameters/read-json-input.ts';
import { checkUsed } from '../passkeys/check-passkey.ts';
import { requestOptions } from '../passkeys/options.ts';
import { requireRelyingParty } from '../passkeys/relying-party.ts';
import { type Cookie, cookieScope, readOwnCookie, writeCookie } from '../web/cookie.ts';
import { PASSKEY_OPTIONS_PATH, PASSKEY_PATH, usedSchema } from './session-schemas.ts';

/** Set anew for each challenge, with the value that it has. */
const cookieOf = (publicUrl: string): Cookie => ({
  ...cookieScope(publicUrl, PASSKEY_PATH),
  name: 'hw_passkey',
  seconds: 2 * LIMITS.passkeyMinutes * 60,
  sameSite: 'Strict',
});
const BROWSER = /^[0-9A-Za-z]{40}$/;
/** A key of RSA signs in 340 characters, and a long id of a credential has 1,364, twice. */
const MAX_BODY_BYTES = 16_384;

/** Parts of the sign-in with a password that this one uses as well. */
export interface PasskeySignInOptions extends Pick<AppOptions, 'engine' | 'publicUrl'> {
  clientOf(c: ApiContext): SignInClient;
  /** The answer to a sign-in. */
  answer(c: ApiContext, bearer: string): Promise<Response>;
}

/**
 * Sign-in with a passkey. A cookie names the browser, so that an answer that was taken from one
 * signs no other in. Its pages share it: each may have a sign-in under way.
 */
export function mountPasskeySignIn(app: App, { engine, publicUrl, ...options }: PasskeySignInOptions): void {
  app.post(PASSKEY_OPTIONS_PATH, async (c: ApiContext) => {
    c.set('route', PASSKEY_OPTIONS_PATH);
    await readJsonInput(c, z.strictObject({}), '{}');
    const party = requireRelyingParty(publicUrl);
    const browser = readBrowser(c, publicUrl) ?? randomToken(40);
    const { challenge, flow } = engine.people.beginPasskeySignIn(browser);
    const headers = { 'cache-control': 'no-store', 'set-cookie': writeCookie(cookieOf(publicUrl), browser) };
    return c.json({ data: { flow, options: requestOptions(party, challenge) } }, 200, headers);
  });
  app.post(PASSKEY_PATH, async (c: ApiContext) => {
    c.set('route', PASSKEY_PATH);
    const { flow, response } = await readJsonInput(c, usedSchema, '{ "flow": …, "response": … }', MAX_BODY_BYTES);
    const party = requireRelyingParty(publicUrl);
    const credentialId = Buffer.from(response.id, 'base64url');
    const answer = { flow, browser: readBrowser(c, publicUrl) ?? '', credentialId };
    const { bearer } = await engine.people.signInWithPasskey(answer, options.clientOf(c), (challenge, stored) =>
      checkUsed(party, response, { challenge, stored }),
    );
    return options.answer(c, bearer);
  });
}

function readBrowser(c: ApiContext, publicUrl: string): string | undefined {
  const browser = readOwnCookie(c.req.header('cookie'), cookieOf(publicUrl));
  return browser !== undefined && BROWSER.test(browser) ? browser : undefined;
}
