import { useSyncExternalStore } from 'react';
import { BASE_PATH } from './base-url.ts';
import { portal } from '../app/portal.ts';
import type { components } from '@headwater/client';

export type Session = components['schemas']['Session'];

/** Goes with every request: the cookie alone signs nothing. */
const SESSION_HEADER = 'x-headwater-session';
const ACCOUNT_HEADER = 'x-headwater-account';

/** The headers of each request of this tab: they name the session, and the account of a member. */
export function sessionHeaders(): Record<string, string> {
  if (current === undefined) return {};
  const { id, account_id: accountId } = current;
  // An older version of the page has stored none.
  const isOfMember = (current.member ?? null) !== null && accountId !== null;
  return { [SESSION_HEADER]: id, ...(isOfMember ? { [ACCOUNT_HEADER]: accountId } : {}) };
}

export type Right = NonNullable<Session['member']>['rights'][number];

/** Why the user may not; undefined where the user may. The server decides: this is for buttons. */
export function missingRight(right: Right): string | undefined {
  // An older version of the page has stored no key.
  const { member = null, key = null } = current ?? {};
  if ((member ?? key)?.rights.includes(right) ?? true) return undefined;
  return `${member === null ? reachOf(key) : `Your role in this account is ${member.role}`}, which does not include this.`;
}

/** Why the pages cannot be shown with a key; undefined where they can. */
export function unreadable({ key }: Session): string | undefined {
  if (key === null || key.rights.includes('read')) return undefined;
  return `${reachOf(key)}. These pages show the whole account, so they need a key with the scope full or read. Use this one with hw or the REST API.`;
}

function reachOf(key: Session['key']): string {
  const { scopes = [], resource = null } = key ?? {};
  const scope = `The scope of your API key is ${scopes.join(', ')}`;
  return resource === null ? scope : `${scope}, for ${resource} alone`;
}

/**
 * Key of this tab, so that two tabs can show two accounts. A new tab begins with the last account
 * that was used.
 */
const TAB_KEY = 'headwater.session';
const LAST_KEY = `headwater.last-session ${BASE_PATH}`;

let current = portal === undefined ? (read('session', TAB_KEY) ?? read('local', LAST_KEY)) : undefined;
const listeners = new Set<() => void>();

function read(kind: 'session' | 'local', key: string): Session | undefined {
  try {
    const storage = kind === 'session' ? sessionStorage : localStorage;
    const text = storage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as Session);
  } catch {
    // A browser may refuse storage, or hold what an older version wrote: the user signs in again.
    return undefined;
  }
}

export function currentSession(): Session | undefined {
  return current;
}

export function setSession(session: Session | undefined): void {
  const ended = current?.id;
  current = session;
  if (session === undefined) {
    sessionStorage.removeItem(TAB_KEY);
    // Another tab may have signed in with another key since.
    if (read('local', LAST_KEY)?.id === ended) localStorage.removeItem(LAST_KEY);
  } else {
    sessionStorage.setItem(TAB_KEY, JSON.stringify(session));
    localStorage.setItem(LAST_KEY, JSON.stringify(session));
  }
  for (const listener of listeners) listener();
}

export function useSession(): Session | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}
