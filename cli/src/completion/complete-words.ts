import {
  type CommandSpec,
  type Completes,
  GLOBAL_OPTIONS,
  type GroupSpec,
  type NamedKind,
  type OptionSpec,
} from '../command.ts';

interface Candidate {
  word: string;
  means: string;
}

export interface CompletionSources {
  commands: readonly CommandSpec[];
  groups: readonly GroupSpec[];
  /** Names that the server or the configuration knows; empty if they cannot be read quickly. */
  names(kind: NamedKind): Promise<readonly string[]>;
}

const FILES = ':files';
/**
 * Shells put a word into the line as it is: one of others must not mean anything there, nor be an
 * option.
 */
const PLAIN_WORD = /^[\w@%+:,./][\w@%+=:,./-]*$/;
const HELP: Candidate = { word: 'help', means: 'What a command does, with examples' };

/** Completions for the last word, as lines for the shell scripts. */
export async function completeWords(words: readonly string[], sources: CompletionSources): Promise<string[]> {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  // `hw help` completes names of commands only, never their arguments.
  const isHelp = before[0] === 'help';
  const { command, group, position, pending } = readWords(isHelp ? before.slice(1) : before, sources);
  const given = await candidates();
  if (given === FILES) return [FILES];
  return given.filter(({ word }) => word.startsWith(current)).map(({ word, means }) => `${word}\t${means}`);

  async function candidates(): Promise<Candidate[] | typeof FILES> {
    if (pending !== undefined)
      return complete(pending.choices === undefined ? pending.completes : { words: pending.choices }, sources);
    if (current.startsWith('-')) return optionCandidates(command);
    if (command === undefined) return [...commandCandidates(group, sources), ...(before.length === 0 ? [HELP] : [])];
    if (isHelp) return [];
    const specs = command.arguments ?? [];
    const last = specs.at(-1);
    return complete((specs[position] ?? (last?.variadic === true ? last : undefined))?.completes, sources);
  }
}

interface Read {
  command: CommandSpec | undefined;
  group: GroupSpec | undefined;
  /** Index of the next argument. */
  position: number;
  /** An option that waits for its value. */
  pending: OptionSpec | undefined;
}

function readWords(words: readonly string[], { commands, groups }: CompletionSources): Read {
  const read: Read = { command: undefined, group: undefined, position: 0, pending: undefined };
  for (const word of words) {
    if (read.pending !== undefined) read.pending = undefined;
    else if (word.startsWith('-')) {
      const option = optionsOf(read.command).find(({ name, short }) => word === `--${name}` || word === `-${short}`);
      read.pending = option?.value === undefined ? undefined : option;
    } else if (read.command !== undefined) read.position++;
    else {
      const parent = read.group;
      read.command = commands.find((command) => isCalled(command, parent, word));
      if (parent === undefined)
        read.group = groups.find(({ name, aliases = [] }) => name === word || aliases.includes(word));
    }
  }
  return read;
}

function isCalled({ path, aliases = [] }: CommandSpec, group: GroupSpec | undefined, word: string): boolean {
  const [first = '', second] = path.split(' ');
  if (group === undefined) return second === undefined && (first === word || aliases.includes(word));
  return first === group.name && second !== undefined && (second === word || aliases.includes(word));
}

function optionsOf(command: CommandSpec | undefined): readonly OptionSpec[] {
  return [...(command?.options ?? []), ...GLOBAL_OPTIONS];
}

function optionCandidates(command: CommandSpec | undefined): Candidate[] {
  return optionsOf(command).map(({ name, summary }) => ({ word: `--${name}`, means: summary }));
}

function commandCandidates(group: GroupSpec | undefined, { commands, groups }: CompletionSources): Candidate[] {
  const inGroup = commands.flatMap(({ path, summary }) => {
    const [first = '', second] = path.split(' ');
    if (group === undefined) return second === undefined ? [{ word: first, means: summary }] : [];
    return first === group.name && second !== undefined ? [{ word: second, means: summary }] : [];
  });
  const isTop = group === undefined;
  return [...inGroup, ...(isTop ? groups.map(({ name, summary }) => ({ word: name, means: summary })) : [])];
}

async function complete(
  completes: Completes | undefined,
  sources: CompletionSources,
): Promise<Candidate[] | typeof FILES> {
  if (completes === 'files') return FILES;
  if (completes === undefined) return [];
  if ('words' in completes) return completes.words.map((word) => ({ word, means: '' }));
  const found = await Promise.all(
    completes.names.map(async (kind) => (await sources.names(kind)).map((word) => ({ word, means: kind }))),
  );
  return found.flat().filter(({ word }) => PLAIN_WORD.test(word));
}
