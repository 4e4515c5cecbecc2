import { type Body, type components, createClient } from '@headwater/client';
import { BASE_PATH } from './base-url.ts';
import { portal } from '../app/portal.ts';
import { noteConnectionLost, noteRateLimited } from './connection.ts';
import { ConnectionError } from './problem.ts';
import { currentSession, type Session, sessionHeaders, setSession, unreadable } from './session.ts';

export type Schemas = components['schemas'];

/**
 * The REST API, typed by its own OpenAPI document. Throws HeadwaterProblem where the server
 * refused, ConnectionError where it did not answer.
 */
export const api = createClient({
  url: BASE_PATH,
  ...(portal === undefined ? {} : { apiKey: portal.key }),
  // Queries are made again as the page decides.
  maxRetries: 0,
  fetch: send,
});

async function send(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, {
    ...init,
    headers: { ...(init.headers as Record<string, string>), ...(portal === undefined ? sessionHeaders() : {}) },
  }).catch((error: unknown) => {
    // A request that the page itself has given up says nothing of the server.
    if (init.signal?.aborted !== true) noteConnectionLost();
    throw new ConnectionError(error, init.method !== undefined && init.method !== 'GET');
  });
  if (response.status === 429) noteRateLimited(response.headers.get('retry-after'));
  // Signing in with a wrong password ends no session.
  if (response.status === 401 && !url.includes(SESSION_PATH)) onUnauthorized();
  return response;
}

const SESSION_PATH = '/v1/session';

/** A resource with the state that it was read in. */
export type Tagged<T> = T & { etag?: string };

/**
 * Headers of a change: the server refuses the change if another user changed the resource since it
 * was read.
 */
export function forState({ etag }: { etag?: string }): Record<string, string> {
  return etag === undefined ? {} : { 'if-match': etag };
}

let onUnauthorized = (): void => undefined;

/** Called when a session has ended: its key was revoked, or it has expired. */
export function onSessionEnd(listener: () => void): void {
  onUnauthorized = listener;
}

export type Credentials = { api_key: string } | { email: string; password: string };

/**
 * Throws HeadwaterProblem 401 for a key that is unknown, or a password that is wrong; an Error for
 * a key that may not read what the pages show.
 */
export async function signIn(credentials: Credentials): Promise<Session> {
  const session = await entered(api.post('/v1/session', { body: credentials }));
  const reason = unreadable(session);
  if (reason === undefined) return session;
  await signOut();
  throw new Error(reason);
}

/**
 * Makes the user a member, and signs in. Throws HeadwaterProblem as signIn, and 404 for a link that
 * ended.
 */
export async function acceptInvitation(body: { token: string; name?: string; password?: string }): Promise<Session> {
  return entered(api.post('/v1/session/invitation/accept', { body }));
}

/**
 * Sets the password of a mailed link, and signs in. Throws HeadwaterProblem 404 for a link that
 * ended.
 */
export async function resetPassword(body: { token: string; password: string }): Promise<Session> {
  return entered(api.post('/v1/session/password_reset/password', { body }));
}

/** Signs in with what the authenticator has signed. Throws HeadwaterProblem as signIn. */
export async function enterWithPasskey(body: Body<'/v1/session/passkey', 'post'>): Promise<Session> {
  return entered(api.post('/v1/session/passkey', { body }));
}

/** The session that a sign-in at a provider has begun: the browser has its cookie already. */
export async function takeSession(id: string): Promise<Session> {
  setSession(undefined);
  return entered(api.get('/v1/session', { headers: { 'x-headwater-session': id } }));
}

async function entered(request: Promise<{ data: Session }>): Promise<Session> {
  const { data } = await request;
  setSession(data);
  return data;
}

/** Another account of the member; only this tab shows it. */
export async function switchAccount(accountId: string): Promise<void> {
  const before = currentSession();
  if (before === undefined) return;
  setSession({ ...before, account_id: accountId });
  const { data } = await api.get('/v1/session').catch(() => ({ data: before }));
  setSession(data);
}

export async function signOut(): Promise<void> {
  await api.delete('/v1/session').catch(() => undefined);
  setSession(undefined);
}

/** An open page keeps its session: it is renewed long before it ends. */
export async function renewSession(): Promise<void> {
  await entered(api.get('/v1/session'));
}
