import { type ArgumentSpec, type CommandSpec, GLOBAL_OPTIONS, type GroupSpec, type OptionSpec } from './command.ts';
import { EXIT, EXIT_MEANINGS, type ExitName } from './exit-codes.ts';
import type { Style } from './terminal/style.ts';

const WIDTH = 96;

export function renderCommandHelp(command: CommandSpec, style: Style): string {
  const { path, summary, details, examples, json, aliases = [] } = command;
  const called = aliases.length === 0 ? '' : `\n\nAlso: ${aliases.map((alias) => aliasPath(path, alias)).join(', ')}`;
  const parts = [
    `${style.bold(`hw ${path}`)}: ${summary}`,
    `${style.bold('Usage')}\n  ${usageOf(command)}${called}`,
    details === undefined ? undefined : wrap(details, 0),
    section('Arguments', (command.arguments ?? []).map(argumentRow), style),
    section('Options', (command.options ?? []).map(optionRow), style),
    section('Options of all commands', GLOBAL_OPTIONS.map(optionRow), style),
    `${style.bold('Examples')}\n${examples.map(({ does, command: line }) => `  ${style.dim(`# ${does}`)}\n  ${line}`).join('\n')}`,
    `${style.bold('With --json')}\n${wrap(json, 2)}`,
    section('Exit codes', exitsOf(command).map(exitRow), style),
  ];
  return parts.filter((part) => part !== undefined).join('\n\n');
}

/** What is listed under a group, or under `hw` itself. */
export function renderOverview(
  { commands, groups }: { commands: readonly CommandSpec[]; groups: readonly GroupSpec[] },
  group: GroupSpec | undefined,
  style: Style,
): string {
  if (group !== undefined) {
    const rows = commands.filter(({ path }) => path.startsWith(`${group.name} `)).map(commandRow);
    const also =
      (group.aliases ?? []).length === 0 ? '' : `\n\nAlso: ${group.aliases?.map((alias) => `hw ${alias}`).join(', ')}`;
    return `${style.bold(`hw ${group.name}`)}: ${group.summary}${also}\n\n${section('Commands', rows, style)}\n\n${more(`${group.name} <command>`)}`;
  }
  const rows = commands.filter(({ path }) => !path.includes(' ')).map(commandRow);
  return [
    `${style.bold('hw')}, the command line of Headwater`,
    `${style.bold('Begin')}\n  hw login\n  hw init source new-orders\n  hw deploy new-orders.mjs\n  hw events new-orders -f`,
    section('Commands', rows, style),
    section(
      'Groups of commands',
      groups.map(({ name, summary }): Row => [name, summary]),
      style,
    ),
    section('Options of all commands', GLOBAL_OPTIONS.map(optionRow), style),
    section('Exit codes', exitNames().map(exitRow), style),
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

function section(title: string, rows: readonly Row[], style: Style): string | undefined {
  if (rows.length === 0) return undefined;
  const longest = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(
    ([name, text]) => `  ${style.cyan(name.padEnd(longest))}  ${wrap(text, longest + 4).trimStart()}`,
  );
  return `${style.bold(title)}\n${lines.join('\n')}`;
}

function wrap(text: string, indentBy: number): string {
  const indent = ' '.repeat(indentBy);
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > WIDTH && line.trim() !== '') {
      lines.push(line);
      line = indent;
    }
    line += (line.trim() === '' ? '' : ' ') + word;
  }
  return [...lines, line].join('\n');
}
