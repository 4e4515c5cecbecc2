import { Argument, Command, CommanderError, Option } from 'commander';
import { CommandInput } from './command-input.ts';
import { type CommandSpec, GLOBAL_OPTIONS, type GroupSpec, type OptionSpec } from './command.ts';
import { usageError } from './cli-error.ts';

export interface CommandTree {
  commands: readonly CommandSpec[];
  groups: readonly GroupSpec[];
}

/** Parsed command line. */
export type Request =
  | { kind: 'run'; command: CommandSpec; input: CommandInput }
  | { kind: 'help'; words: readonly string[] }
  | { kind: 'version' };

/** `--help` is the parser's own. */
const SHARED_OPTIONS = GLOBAL_OPTIONS.filter(({ name }) => name !== 'help');

/** Throws a usage error that names the part that is wrong. */
export function parseCommandLine(argv: readonly string[], tree: CommandTree): Request {
  const state: { request: Request } = { request: { kind: 'help', words: [] } };
  const program = createCommand('hw').option('-V, --version');
  // They may stand before and after the command's name.
  for (const option of SHARED_OPTIONS) program.addOption(optionOf(option));
  for (const group of tree.groups) program.addCommand(createCommand(group.name).aliases(group.aliases ?? []));
  for (const spec of tree.commands) {
    const [first = '', second] = spec.path.split(' ');
    const parent = second === undefined ? program : program.commands.find((command) => command.name() === first);
    parent?.addCommand(
      commandOf(spec, program, (request) => {
        state.request = request;
      }),
    );
  }
  program.addCommand(
    createCommand('help')
      .argument('[command...]')
      .action((words: string[]) => {
        state.request = { kind: 'help', words };
      }),
  );
  return parse(program, argv, state, tree);
}

function parse(program: Command, argv: readonly string[], state: { request: Request }, tree: CommandTree): Request {
  const words = argv.filter((word) => !word.startsWith('-'));
  // Without a command there is nothing that an option could belong to; help and version are asked
  // for anywhere.
  if (argv.some((word) => word === '-V' || word === '--version') && words.length === 0) return { kind: 'version' };
  if (words.length === 0 && argv.every((word) => word === '-h' || word === '--help'))
    return { kind: 'help', words: [] };
  try {
    program.parse([...argv], { from: 'user' });
    return state.request;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed' || error.code === 'commander.help')
      return { kind: 'help', words: helpWords(program, argv) };
    throw misunderstood(error, program, argv, tree);
  }
}

/** The commands among the words, for `hw deploy --help`. */
function helpWords(program: Command, argv: readonly string[]): string[] {
  const found: string[] = [];
  let at = program;
  for (const word of argv) {
    const next = at.commands.find((command) => command.name() === word || command.aliases().includes(word));
    if (next === undefined) continue;
    found.push(next.name());
    at = next;
  }
  return found;
}

function misunderstood(error: CommanderError, program: Command, argv: readonly string[], tree: CommandTree) {
  const [message = '', ...suggestions] = error.message.replace(/^error: /, '').split('\n');
  const words = helpWords(program, argv);
  const suggestion = suggestions
    .join(' ')
    .trim()
    .replaceAll(/^\(|\)$/g, '');
  const inGroups = error.code === 'commander.unknownCommand' ? namesakes(argv, tree) : [];
  if (inGroups.length > 0) return usageError(message, `Did you mean ${inGroups.join(', ')}?`);
  return usageError(
    message,
    suggestion === '' ? `See: hw help${words.map((word) => ` ${word}`).join('')}` : suggestion,
  );
}

/** `hw doctor` → `hw server doctor`. */
function namesakes(argv: readonly string[], { commands }: CommandTree): string[] {
  const first = argv.find((word) => !word.startsWith('-'));
  return commands.filter(({ path }) => path.endsWith(` ${first}`)).map(({ path }) => `hw ${path}`);
}

function createCommand(name: string): Command {
  return new Command(name)
    .helpOption('-h, --help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    .showSuggestionAfterError(true);
}

function commandOf(spec: CommandSpec, program: Command, onRun: (request: Request) => void): Command {
  const command = createCommand(spec.path.split(' ').at(-1) ?? '').aliases(spec.aliases ?? []);
  const specs = spec.arguments ?? [];
  for (const argument of specs) {
    const word = argument.variadic === true ? `${argument.name}...` : argument.name;
    command.addArgument(new Argument(argument.optional === true ? `[${word}]` : `<${word}>`));
  }
  const options = spec.options ?? [];
  for (const option of options) command.addOption(optionOf(option));
  return command.action(() => {
    const values = new Map(specs.map(({ name }, at) => [name, command.processedArgs[at] as string | undefined]));
    const given = new Map([
      ...options.map((option) => [option.name, nearestValueOf(command, option)] as const),
      ...SHARED_OPTIONS.map((option) => [option.name, valueOf(program, option)] as const),
    ]);
    onRun({ kind: 'run', command: spec, input: new CommandInput(values, given) });
  });
}

function optionOf({ name, short, value, choices, repeatable }: OptionSpec): Option {
  const option = new Option(
    `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`,
  );
  if (choices !== undefined) option.choices(choices);
  if (repeatable === true) {
    option.argParser((given: string, before: readonly string[] | undefined) => [...(before ?? []), given]);
  }
  return option;
}

/**
 * Also looks at the parent command: the parser assigns an option of `hw events` to it, even after
 * `publish`.
 */
function nearestValueOf(command: Command, option: OptionSpec): unknown {
  const value = valueOf(command, option);
  return value === undefined && command.parent !== null ? valueOf(command.parent, option) : value;
}

/** `--no-color` is `color: false` to the parser; here it is the flag `no-color`. */
function valueOf(command: Command, option: OptionSpec): unknown {
  const parsed = optionOf(option);
  const value: unknown = command.getOptionValue(parsed.attributeName());
  return parsed.negate ? value === false : value;
}
