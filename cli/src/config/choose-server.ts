import { isLoopback } from '../api/use-proxy.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { CliEnvironment } from '../environment.ts';
import { quoteWord } from '../terminal/quote-word.ts';
import type { Profiles } from './profiles.ts';

export const DEFAULT_URL = 'http://127.0.0.1:3000';
export const DEFAULT_PROFILE = 'default';

export interface ServerChoice {
  url: string;
  /** Absent: no login for this server. */
  apiKey?: string;
  profile: string;
  keyFrom?: 'option' | 'environment' | 'profile';
}

interface Given {
  url?: string | undefined;
  apiKey?: string | undefined;
  profile?: string | undefined;
}

/**
 * Options override the environment, and the environment overrides the profile. A profile named by
 * an option also overrides the environment. A profile's key goes only to that profile's server. The
 * environment's key goes only to the environment's server, if it names one.
 */
export async function chooseServer(given: Given, env: CliEnvironment, profiles: Profiles): Promise<ServerChoice> {
  const profile = chooseProfile(given.profile, env);
  const fromEnv = given.profile === undefined ? keyedEnvironment(env, given.url) : {};
  const isNamed = (given.profile ?? env.profile) !== undefined;
  const isComplete = (given.apiKey ?? fromEnv.apiKey) !== undefined && (given.url ?? fromEnv.url) !== undefined;
  // A broken profile file does not matter if no value of it is needed.
  const saved = isComplete ? undefined : await profiles.get(profile);
  // The user named a profile, so the server on this machine would be a guess.
  if (isNamed && saved === undefined && !isComplete) throw await noProfile(profile, given, profiles);
  const url = readUrl(given.url ?? fromEnv.url ?? saved?.url ?? DEFAULT_URL);
  if (given.apiKey !== undefined) return { url, apiKey: checkServerKey(given.apiKey), profile, keyFrom: 'option' };
  if (fromEnv.apiKey !== undefined)
    return { url, apiKey: checkServerKey(fromEnv.apiKey), profile, keyFrom: 'environment' };
  if (saved?.url === url) return { url, apiKey: saved.apiKey, profile, keyFrom: 'profile' };
  return { url, profile };
}

/** Without the key for another server than the one it is for. */
export function keyedEnvironment(env: CliEnvironment, url: string | undefined): Pick<CliEnvironment, 'url' | 'apiKey'> {
  if (url === undefined || env.url === undefined || readUrl(url) === readUrl(env.url)) return env;
  return { url: env.url };
}

/**
 * Throws if a header cannot hold the key. `fetch` would fail instead, with an error as if the
 * server were unreachable.
 */
export function checkServerKey(key: string): string {
  if (!/^[!-~]+$/.test(key)) throw new CliError('unauthorized', 'That is no API key: one has no spaces or other signs');
  return key;
}

/** By the option, else by HEADWATER_PROFILE. */
export function chooseProfile(given: string | undefined, env: Pick<CliEnvironment, 'profile'>): string {
  if (given?.trim() === '') throw usageError('--profile has no name', 'Name one, or leave it out for `default`');
  return given ?? env.profile ?? DEFAULT_PROFILE;
}

async function noProfile(profile: string, given: Given, profiles: Profiles): Promise<CliError> {
  const names = await profiles.names();
  const known = names.length === 0 ? '' : `   (profiles: ${names.join(', ')})`;
  const from = given.profile === undefined ? ', which HEADWATER_PROFILE names' : '';
  return new CliError('unauthorized', `There is no profile ${profile}${from}`, {
    hint: `Log in with: hw login -p ${quoteWord(profile)}${known}`,
  });
}

/** Hint for a key that the server refuses. */
export function refusedHint({ url, profile, keyFrom }: ServerChoice): string {
  if (keyFrom === 'option') return 'The key is that of --api-key';
  if (keyFrom === 'environment') return 'The key is that of HEADWATER_API_KEY: set another, or unset it and log in';
  const of = profile === DEFAULT_PROFILE ? '' : ` -p ${quoteWord(profile)}`;
  return `Log in again: hw login --url ${quoteWord(url)}${of}`;
}

/**
 * Scheme, host and port; a path stays, for servers behind one, but not the `/v1` that every path of
 * the API begins with.
 */
export function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw usageError(`${text} is not a URL of a server`, 'Give it with its scheme: --url https://hw.example.com');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw usageError('The URL of the server has no user name, query or fragment');
  }
  return url.href.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** Text that goes there can be read on the way. */
export function isUnprotected(url: string): boolean {
  return new URL(url).protocol === 'http:' && !isLoopback(url);
}
