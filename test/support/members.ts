import type { Role } from '../../shared/src/index.ts';
import type { Headwater } from './headwater.ts';
import type { Json } from './json.ts';

export const PASSWORD = 'correct horse battery';

/** A browser of a member: it keeps the cookie, and signs requests with it. */
export interface Browser {
  /** Status, data and text of the answer to a request that is signed by the cookie. */
  api: Headwater['api'];
  /** The same in another account of the member. */
  inAccount(accountId: string): Headwater['api'];
  /** The answer to the sign-in. */
  session: Json;
  /** `hw_session_…=…` */
  cookie: string;
}

/**
 * A request to one of the paths below `/v1/session`; a browser where it is answered by a session.
 */
export async function postSession(
  hw: Pick<Headwater, 'url'>,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; browser: Browser }> {
  const response = await fetch(new URL(`/v1/session${path}`, hw.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? '';
  const session = text === '' ? undefined : JSON.parse(text).data;
  return { status: response.status, text, browser: browserOf(hw, session, cookie) };
}

function browserOf(hw: Pick<Headwater, 'url'>, session: Browser['session'], cookie: string): Browser {
  const inAccount =
    (accountId?: string): Headwater['api'] =>
    async (method, pathname, parameters) => {
      const target = new URL(`/v1${pathname}`, hw.url);
      const isRead = method === 'GET';
      for (const [name, value] of Object.entries(isRead ? (parameters ?? {}) : {}))
        target.searchParams.set(name, String(value));
      const response = await fetch(target, {
        method,
        headers: {
          cookie,
          'x-headwater-session': session?.id ?? '',
          ...(accountId === undefined ? {} : { 'x-headwater-account': accountId }),
          ...(isRead ? {} : { 'content-type': 'application/json' }),
        },
        ...(isRead ? {} : { body: JSON.stringify(parameters ?? {}) }),
      });
      const text = await response.text();
      return { status: response.status, text, data: text === '' ? undefined : JSON.parse(text).data };
    };
  return { api: inAccount(), inAccount, session, cookie };
}

export const signIn = (hw: Pick<Headwater, 'url'>, email: string, password = PASSWORD) =>
  postSession(hw, '', { email, password });

export const tokenOf = (link: string) => new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? '';

let people = 0;
/** An address that nobody else has on a node of the test's own. */
export const newEmail = () => `ada.${people++}@example.com`;

/** Invites with the key of `hw`, or as the operator, and accepts. */
export async function makeMember(hw: Headwater, email: string, role: Role, password = PASSWORD): Promise<Browser> {
  const { data, text } = await hw.admin('POST', `/accounts/${hw.accountId}/invitations`, { email, role });
  if (data === undefined) throw new Error(text);
  const accepted = await postSession(hw, '/invitation/accept', { token: tokenOf(data.link), password });
  if (accepted.status !== 200) throw new Error(accepted.text);
  return accepted.browser;
}
