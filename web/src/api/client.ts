import createClient, { type Middleware } from 'openapi-fetch';
import { BASE_PATH } from './base-url.ts';
import { portal } from '../app/portal.ts';
import { noteConnectionLost } from './connection.ts';
import { ApiError, ConnectionError, type Problem } from './problem.ts';
import type { components, paths } from './schema.d.ts';
import { currentSession, type Session, sessionHeaders, setSession } from './session.ts';

export type Schemas = components['schemas'];

const signed: Middleware = {
  onRequest({ request }) {
    if (portal !== undefined) request.headers.set('authorization', `Bearer ${portal.key}`);
    else for (const [name, value] of Object.entries(sessionHeaders())) request.headers.set(name, value);
    return request;
  },
  onError({ error }) {
    // One that the page itself has given up says nothing of the server.
    if (!(error instanceof DOMException && error.name === 'AbortError')) noteConnectionLost();
    return new ConnectionError(error);
  },
};

/** The REST API, typed by its own OpenAPI document. */
export const api = createClient<paths>({ baseUrl: BASE_PATH.replace(/\/$/, '') });
api.use(signed);

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/**
 * The body of an answer. Throws ApiError where the server refused, ConnectionError where it did not
 * answer.
 */
export async function ask<T>(request: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await request;
  if (response.ok) return data as T;
  const problem = problemOf(error, response);
  if (problem.status === 401) onUnauthorized();
  throw new ApiError(problem);
}

/** A resource with the state that it was read in. */
export type Tagged<T> = T & { etag?: string };

/** As `ask`, for a resource that has an `etag`. */
export async function askTagged<T extends object>(request: Promise<Answer<{ data: T }>>): Promise<Tagged<T>> {
  const { data } = await ask(request);
  const etag = (await request).response.headers.get('etag');
  return { ...data, ...(etag === null ? {} : { etag }) };
}

/**
 * Header of a change: the server refuses the change if another user changed the resource since it
 * was read.
 */
export function forState({ etag }: { etag?: string }): { header?: { 'if-match': string } } {
  return etag === undefined ? {} : { header: { 'if-match': etag } };
}

/** A proxy in between may answer something that is no problem document. */
function problemOf(error: unknown, response: Response): Problem {
  if (typeof error === 'object' && error !== null && 'detail' in error) return error as Problem;
  const detail = `The server answered ${response.status} ${response.statusText}`.trim();
  return { type: 'about:blank', title: detail, status: response.status, detail, error: detail, request_id: '' };
}

let onUnauthorized = (): void => undefined;

/** Called when a session has ended: its key was revoked, or it has expired. */
export function onSessionEnd(listener: () => void): void {
  onUnauthorized = listener;
}

export type Credentials = { api_key: string } | { email: string; password: string };

/** Throws ApiError 401 for a key that is unknown, or a password that is wrong. */
export async function signIn(credentials: Credentials): Promise<Session> {
  return entered(api.POST('/v1/session', { body: credentials }));
}

/**
 * Makes the user a member, and signs in. Throws ApiError as signIn, and 404 for a link that ended.
 */
export async function acceptInvitation(body: { token: string; name?: string; password?: string }): Promise<Session> {
  return entered(api.POST('/v1/session/invitation/accept', { body }));
}

/** Sets the password of a mailed link, and signs in. Throws ApiError 404 for a link that ended. */
export async function resetPassword(body: { token: string; password: string }): Promise<Session> {
  return entered(api.POST('/v1/session/password_reset/password', { body }));
}

/** Signs in with what the authenticator has signed. Throws ApiError as signIn. */
export async function enterWithPasskey(
  body: NonNullable<paths['/v1/session/passkey']['post']['requestBody']>['content']['application/json'],
): Promise<Session> {
  return entered(api.POST('/v1/session/passkey', { body }));
}

/** The session that a sign-in at a provider has begun: the browser has its cookie already. */
export async function takeSession(id: string): Promise<Session> {
  setSession(undefined);
  return entered(api.GET('/v1/session', { headers: { 'x-headwater-session': id } }));
}

async function entered(request: Promise<Answer<{ data: Session }>>): Promise<Session> {
  const { data, error, response } = await request;
  if (data === undefined) throw new ApiError(problemOf(error, response));
  setSession(data.data);
  return data.data;
}

/** Another account of the member; only this tab shows it. */
export async function switchAccount(accountId: string): Promise<void> {
  const before = currentSession();
  if (before === undefined) return;
  setSession({ ...before, account_id: accountId });
  const { data } = await api.GET('/v1/session');
  setSession(data?.data ?? before);
}

export async function signOut(): Promise<void> {
  await api.DELETE('/v1/session').catch(() => undefined);
  setSession(undefined);
}

/** An open page keeps its session: it is renewed long before it ends. */
export async function renewSession(): Promise<void> {
  const { data } = await api.GET('/v1/session');
  if (data !== undefined) setSession(data.data);
}
