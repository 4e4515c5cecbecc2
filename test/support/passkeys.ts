import type { Headwater } from './headwater.ts';
import { type Browser, postSession } from './members.ts';
import { createAuthenticator, type Misbehaviour } from './software-authenticator.ts';

/** Tests sign in from one address, which may try only so often. */
export async function forgetTries({ sql }: Pick<Headwater, 'sql'>): Promise<void> {
  await sql`delete from sign_in_turns`;
}

/** Asks for the options of a new passkey. */
export const beginPasskey = (browser: Browser, parameters = {}) =>
  browser.api('POST', '/users/me/passkeys/options', parameters);

/** Adds a passkey, as a browser does. */
export async function addPasskey(
  { url }: Pick<Headwater, 'url'>,
  browser: Browser,
  wrong: Misbehaviour = {},
  authenticator = createAuthenticator(url),
) {
  const { data, text } = await beginPasskey(browser);
  if (data === undefined) throw new Error(text);
  const response = authenticator.create(data.options, wrong);
  const added = await browser.api('POST', '/users/me/passkeys', { flow: data.flow, name: 'Laptop', response });
  return { ...added, authenticator };
}

/** A browser on the sign-in page. */
export async function beginSignIn({ url }: Pick<Headwater, 'url'>, cookie = '') {
  const answer = await fetch(`${url}/v1/session/passkey/options`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: '{}',
  });
  const { data } = (await answer.json()) as { data: { flow: string; options: { challenge: string } } };
  return { ...data, cookie: answer.headers.get('set-cookie') ?? '' };
}

/** A cookie as a browser sends it. */
export const nameAndValue = (cookie: string) => cookie.split(';')[0] ?? '';

/** Sends the answer of an authenticator. */
export const finishSignIn = (hw: Pick<Headwater, 'url'>, flow: string, response: object, cookie: string) =>
  postSession(hw, '/passkey', { flow, response }, { cookie: nameAndValue(cookie) });

/** Signs in with a passkey, as a browser does. */
export async function enter(
  hw: Pick<Headwater, 'url'>,
  authenticator: ReturnType<typeof createAuthenticator>,
  wrong: Misbehaviour = {},
) {
  const { flow, options, cookie } = await beginSignIn(hw);
  return finishSignIn(hw, flow, authenticator.get(options, wrong), cookie);
}
