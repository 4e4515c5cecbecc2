import { CliError, usageError } from '../cli-error.ts';
import type { CliEnvironment } from '../environment.ts';
import type { Profiles } from './profiles.ts';

export const DEFAULT_URL = 'http://127.0.0.1:3000';
export const DEFAULT_PROFILE = 'default';

export interface ServerChoice {
  url: string;
  /** Absent: nobody is logged in there. */
  apiKey?: string;
  profile: string;
  /** Where the key is from. */
  keyFrom?: 'option' | 'environment' | 'profile';
}

interface Given {
  url?: string | undefined;
  apiKey?: string | undefined;
  profile?: string | undefined;
}

/**
 * Options go before the environment, the environment before the profile; a profile that is named by an option goes before
 * the environment too. The key of a profile is for the server of that profile: it is sent to no other.
 */
export async function chooseServer(given: Given, env: CliEnvironment, profiles: Profiles): Promise<ServerChoice> {
  const profile = given.profile ?? env.profile ?? DEFAULT_PROFILE;
  const saved = await profiles.get(profile);
  if (given.profile !== undefined && saved === undefined && (given.apiKey === undefined || given.url === undefined)) {
    const names = await profiles.names();
    throw new CliError('unauthorized', `There is no profile ${profile}`, {
      hint: `Log in with: hw login -p ${profile}${names.length === 0 ? '' : `   (profiles: ${names.join(', ')})`}`,
    });
  }
  const fromEnv: Pick<CliEnvironment, 'url' | 'apiKey'> = given.profile === undefined ? env : {};
  const url = readUrl(given.url ?? fromEnv.url ?? saved?.url ?? DEFAULT_URL);
  if (given.apiKey !== undefined) return { url, apiKey: given.apiKey, profile, keyFrom: 'option' };
  if (fromEnv.apiKey !== undefined) return { url, apiKey: fromEnv.apiKey, profile, keyFrom: 'environment' };
  if (saved?.url === url) return { url, apiKey: saved.apiKey, profile, keyFrom: 'profile' };
  return { url, profile };
}

/** Scheme, host and port; a path stays, for servers behind one. */
export function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw usageError(`${text} is not a URL of a server`, 'Give it with its scheme: --url https://hw.example.com');
  }
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw usageError('The URL of the server has no user name, query or fragment');
  }
  return url.href.replace(/\/+$/, '');
}

/** Text that goes there can be read on the way. */
export function isUnprotected(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
