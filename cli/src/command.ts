import type { Answer } from './answer.ts';
import type { CommandContext } from './context.ts';
import type { ExitName } from './exit-codes.ts';

/** Completions for a word: names from the server, files, or fixed words. */
export type Completes = 'files' | { names: readonly NamedKind[] } | { words: readonly string[] };

export type NamedKind = 'sources' | 'workflows' | 'webhooks' | 'components' | 'profiles';

export interface ArgumentSpec {
  name: string;
  summary: string;
  optional?: boolean;
  /** Takes all words that are left. */
  variadic?: boolean;
  completes?: Completes;
}

export interface OptionSpec {
  /** Without dashes. */
  name: string;
  short?: string;
  /** Placeholder of its value in help; absent for a flag. */
  value?: string;
  summary: string;
  repeatable?: boolean;
  choices?: readonly string[];
  completes?: Completes;
}

interface Example {
  does: string;
  command: string;
}

/** One command: parsing, help, completion and docs/cli.md are all made of it. */
export interface CommandSpec {
  /** `webhooks create`. */
  path: string;
  /** Aliases of the last word of the path. */
  aliases?: readonly string[];
  summary: string;
  details?: string;
  arguments?: readonly ArgumentSpec[];
  options?: readonly OptionSpec[];
  examples: readonly Example[];
  /** Describes the output of --json. */
  json: string;
  /** Beside ok, failure and usage, which every command has. */
  exits?: readonly ExitName[];
  /** Returns undefined if the command wrote its output while it ran. */
  run(context: CommandContext): Promise<Answer | undefined>;
}

export interface GroupSpec {
  name: string;
  aliases?: readonly string[];
  summary: string;
}

/** Exits of all commands that ask a server. */
export const SERVER_EXITS = ['unauthorized', 'unreachable'] as const satisfies readonly ExitName[];
/** And name something there. */
export const NAMING_EXITS = ['unauthorized', 'notFound', 'unreachable'] as const satisfies readonly ExitName[];
/** And run code of a component. */
export const COMPONENT_EXITS = [...NAMING_EXITS, 'component'] as const satisfies readonly ExitName[];

export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { name: 'url', value: 'url', summary: 'The server. Else HEADWATER_URL, else that of the profile.' },
  {
    name: 'api-key',
    value: 'key',
    summary:
      'The API key. Others on this machine may see it in the list of processes: HEADWATER_API_KEY is better. That one is for HEADWATER_URL, where it is set, and sent to no other --url.',
  },
  {
    name: 'profile',
    short: 'p',
    value: 'name',
    summary: 'Which login to use. Else HEADWATER_PROFILE, else `default`.',
    completes: { names: ['profiles'] },
  },
  { name: 'json', summary: 'Print JSON: one document, or one a line where the command follows something.' },
  { name: 'no-color', summary: 'No colours. So does NO_COLOR.' },
  { name: 'quiet', short: 'q', summary: 'Only what was asked for: ids of what was made, no notes, no progress.' },
  { name: 'help', short: 'h', summary: 'What the command does, with examples.' },
];
