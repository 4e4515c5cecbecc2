import type { User } from '../api/resources.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { Answer } from '../answer.ts';
import type { CommandContext } from '../context.ts';
import { quoteWord } from '../terminal/quote-word.ts';
import { checkKey, chooseProfile, DEFAULT_PROFILE, DEFAULT_URL, isUnprotected, readUrl } from './choose-server.ts';

/** `hw login`: nothing is kept before the server has accepted the key. */
export async function createLogin(context: CommandContext): Promise<Answer> {
  const { input, environment, output, profiles } = context;
  const profile = chooseProfile(input.text('profile'), environment);
  const url = await chooseUrl(context, profile);
  if (isUnprotected(url)) output.warn(`${url} is not encrypted: the key can be read on the way`);
  const apiKey = await readKey(context);
  const user = await output.progress(`Asking ${url}`, () => context.connect({ url, apiKey }).get<User>('/users/me'));
  await profiles.put(profile, { url, apiKey });
  const use = profile === DEFAULT_PROFILE ? '' : `\nUse it with: -p ${quoteWord(profile)}`;
  return {
    json: { profile, url, user },
    text: `Logged in to ${url} as ${user.email ?? user.username}.${use}`,
    quiet: '',
  };
}

/** Of a profile that is there, its own: logging in again is for another key. */
async function chooseUrl({ input, environment, ask, profiles }: CommandContext, profile: string): Promise<string> {
  const given = input.text('url') ?? environment.url;
  if (given !== undefined) return readUrl(given);
  const fallback = (await profiles.get(profile))?.url ?? DEFAULT_URL;
  if (!ask.possible || hasKey({ input, environment })) return fallback;
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

async function readKey({ input, environment, ask, readStdin }: CommandContext): Promise<string> {
  const given = input.text('api-key') ?? environment.apiKey;
  const key = (given ?? (ask.possible ? await ask.secret('API key') : firstLine(await readStdin()))).trim();
  if (key === '') {
    throw usageError('No key was given', 'Set HEADWATER_API_KEY, or write the key to standard input');
  }
  return checkKey(key);
}

function hasKey({ input, environment }: Pick<CommandContext, 'input' | 'environment'>): boolean {
  return (input.text('api-key') ?? environment.apiKey) !== undefined;
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
