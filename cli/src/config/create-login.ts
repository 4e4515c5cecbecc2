import type { User } from '../api/resources.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { Answer } from '../answer.ts';
import type { CommandContext } from '../context.ts';
import { quoteWord } from '../terminal/quote-word.ts';
import {
  checkServerKey,
  chooseProfile,
  DEFAULT_PROFILE,
  DEFAULT_URL,
  isUnprotected,
  keyedEnvironment,
  readUrl,
} from './choose-server.ts';

/** `hw login`: nothing is kept before the server has accepted the key. */
export async function createLogin(context: CommandContext): Promise<Answer> {
  const { input, environment, output, profiles } = context;
  const profile = chooseProfile(input.text('profile'), environment);
  const url = await chooseUrl(context, profile);
  if (isUnprotected(url)) output.warn(`${url} is not encrypted: the key can be read on the way`);
  const apiKey = await readKey(context, url);
  const user = await output.progress(`Asking ${url}`, () => context.connect({ url, apiKey }).get<User>('/users/me'));
  await profiles.put(profile, { url, apiKey });
  const use = profile === DEFAULT_PROFILE ? '' : `\nUse it with: -p ${quoteWord(profile)}`;
  return {
    json: { profile, url, user },
    text: `Logged in to ${url} as ${user.email ?? user.username}.${use}`,
    quiet: '',
  };
}

/**
 * An existing profile keeps its URL: a new login is for another key. A profile that an option names
 * wins over the environment, as in every command. Otherwise the login would go to the environment's
 * server.
 */
async function chooseUrl(context: CommandContext, profile: string): Promise<string> {
  const { input, environment, ask, profiles } = context;
  const given = input.text('url');
  if (given !== undefined) return readUrl(given);
  const goesFirst = input.text('profile') !== undefined || environment.url === undefined;
  const saved = goesFirst ? (await profiles.get(profile))?.url : undefined;
  if (saved === undefined && environment.url !== undefined) return readUrl(environment.url);
  const fallback = saved ?? DEFAULT_URL;
  if (!ask.possible || givenKey(context, fallback) !== undefined) return fallback;
  return readUrl(await ask.text('Where is the server?', { placeholder: fallback, fallback, check: urlProblem }));
}

/** Nothing typed is the fallback. */
function urlProblem(typed: string): string | undefined {
  if (typed === '') return undefined;
  try {
    readUrl(typed);
    return undefined;
  } catch (error) {
    return error instanceof CliError ? [error.message, error.hint].join('. ') : String(error);
  }
}

async function readKey(context: CommandContext, url: string): Promise<string> {
  const { environment, ask, readStdin } = context;
  const given = givenKey(context, url);
  const key = (given ?? (ask.possible ? await ask.secret('API key') : firstLine(await readStdin()))).trim();
  if (key === '') {
    const isOfAnother = given === undefined && environment.apiKey !== undefined;
    const hint = isOfAnother
      ? `HEADWATER_API_KEY is for HEADWATER_URL: write the key of ${url} to standard input`
      : 'Set HEADWATER_API_KEY, or write the key to standard input';
    throw usageError('No key was given', hint);
  }
  return checkServerKey(key);
}

function givenKey({ input, environment }: CommandContext, url: string): string | undefined {
  return input.text('api-key') ?? keyedEnvironment(environment, url).apiKey;
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
