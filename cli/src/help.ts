import { type ArgumentSpec, type CommandSpec, GLOBAL_OPTIONS, type GroupSpec, type OptionSpec } from './command.ts';
import { EXIT, EXIT_MEANINGS, type ExitName } from './exit-codes.ts';
import type { Style } from './terminal/style.ts';

/** Longer lines are hard to read, however wide the terminal is. */
const WIDTH = 96;
/** Beside a column of names there has to be room for a word or two. */
const MIN_WIDTH = 40;

/** How help is written: `width` is that of the terminal, where there is one. */
export interface Page {
  style: Style;
  width?: number | undefined;
}

export function renderCommandHelp(command: CommandSpec, page: Page): string {
  const { style } = page;
  const { path, summary, details, examples, json, aliases = [] } = command;
  const called = aliases.length === 0 ? '' : `\n\nAlso: ${aliases.map((alias) => aliasPath(path, alias)).join(', ')}`;
  const parts = [
    `${style.bold(`hw ${path}`)}: ${summary}`,
    `${style.bold('Usage')}\n  ${usageOf(command)}${called}`,
    details === undefined ? undefined : wrap(details, 0, page),
    section('Arguments', (command.arguments ?? []).map(argumentRow), page),
    section('Options', (command.options ?? []).map(optionRow), page),
    section('Options of all commands', GLOBAL_OPTIONS.map(optionRow), page),
    `${style.bold('Examples')}\n${examples.map(({ does, command: line }) => `  ${style.dim(`# ${does}`)}\n  ${line}`).join('\n')}`,
    `${style.bold('With --json')}\n${wrap(json, 2, page)}`,
    section('Exit codes', exitsOf(command).map(exitRow), page),
  ];
  return parts.filter((part) => part !== undefined).join('\n\n');
}

/** Lists the commands of a group, or of `hw` itself. */
export function renderOverview(
  { commands, groups }: { commands: readonly CommandSpec[]; groups: readonly GroupSpec[] },
  group: GroupSpec | undefined,
  page: Page,
): string {
  const { style } = page;
  if (group !== undefined) {
    const rows = commands.filter(({ path }) => path.startsWith(`${group.name} `)).map(commandRow);
    const also =
      (group.aliases ?? []).length === 0 ? '' : `\n\nAlso: ${group.aliases?.map((alias) => `hw ${alias}`).join(', ')}`;
    return `${style.bold(`hw ${group.name}`)}: ${group.summary}${also}\n\n${section('Commands', rows, page)}\n\n${more(`${group.name} <command>`)}`;
  }
  const rows = commands.filter(({ path }) => !path.includes(' ')).map(commandRow);
  return [
    `${style.bold('hw')}, the command line of Headwater`,
    `${style.bold('Begin')}\n  hw login\n  hw init source new-orders\n  hw deploy new-orders.mjs\n  hw events new-orders -f`,
    section('Commands', rows, page),
    section(
      'Groups of commands',
      groups.map(({ name, summary }): Row => [name, summary]),
      page,
    ),
    section('Options of all commands', GLOBAL_OPTIONS.map(optionRow), page),
    section('Exit codes', exitNames().map(exitRow), page),
    more('<command>'),
  ].join('\n\n');
}

const more = (what: string) => `More: hw help ${what}`;

export function usageOf({ path, arguments: specs = [], options = [] }: CommandSpec): string {
  const words = specs.map(argumentWord);
  return ['hw', path, ...words, ...(options.length > 0 ? ['[options]'] : [])].join(' ');
}

export function aliasPath(path: string, alias: string): string {
  return ['hw', ...path.split(' ').slice(0, -1), alias].join(' ');
}

export function argumentWord({ name, optional, variadic }: ArgumentSpec): string {
  const word = variadic === true ? `${name}...` : name;
  return optional === true || variadic === true ? `[${word}]` : `<${word}>`;
}

export function optionWords({ name, short, value }: OptionSpec): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`;
}

/** Every command may fail in these ways, and in those that it names. */
export function exitsOf({ exits = [] }: Pick<CommandSpec, 'exits'>): ExitName[] {
  const all = new Set<ExitName>(['ok', 'failure', 'usage', ...exits]);
  return exitNames().filter((name) => all.has(name));
}

export function exitNames(): ExitName[] {
  return Object.keys(EXIT) as ExitName[];
}

type Row = readonly [string, string];

const argumentRow = (argument: ArgumentSpec): Row => [argumentWord(argument), argument.summary];
const commandRow = ({ path, summary }: CommandSpec): Row => [path, summary];
const exitRow = (name: ExitName): Row => [String(EXIT[name]), EXIT_MEANINGS[name]];

function optionRow(option: OptionSpec): Row {
  const choices = option.choices === undefined ? '' : ` One of ${option.choices.join(', ')}.`;
  return [optionWords(option), option.summary + choices];
}

function section(title: string, rows: readonly Row[], page: Page): string | undefined {
  const { style } = page;
  if (rows.length === 0) return undefined;
  const longest = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(
    ([name, text]) => `  ${style.cyan(name.padEnd(longest))}  ${wrap(text, longest + 4, page).trimStart()}`,
  );
  return `${style.bold(title)}\n${lines.join('\n')}`;
}

function wrap(text: string, indentBy: number, page: Page): string {
  const width = Math.min(WIDTH, Math.max(page.width ?? WIDTH, MIN_WIDTH, indentBy + MIN_WIDTH / 2));
  const indent = ' '.repeat(indentBy);
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > width && line.trim() !== '') {
      lines.push(line);
      line = indent;
    }
    line += (line.trim() === '' ? '' : ' ') + word;
  }
  return [...lines, line].join('\n');
}
