import { useSyncExternalStore } from 'react';
import { BASE_PATH } from './base-url.ts';
import { portal } from '../app/portal.ts';
import type { components } from './schema.d.ts';

export type Session = components['schemas']['Session'];

/** Goes with every request: the cookie alone signs nothing. */
export const SESSION_HEADER = 'x-headwater-session';

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
