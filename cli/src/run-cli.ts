import { nearest } from '@headwater/shared';
import { createApiClient, interrupted } from './api/client.ts';
import { useProxy } from './api/use-proxy.ts';
import { CliError, usageError } from './cli-error.ts';
import type { CommandInput } from './command-input.ts';
import type { CommandSpec, NamedKind } from './command.ts';
import { allCommands, GROUPS } from './commands/all-commands.ts';
import { completeWords } from './completion/complete-words.ts';
import { listNames } from './completion/list-names.ts';
import { chooseServer, DEFAULT_URL, refusedHint, type ServerChoice } from './config/choose-server.ts';
import { openProfiles } from './config/profiles.ts';
import type { CommandContext } from './context.ts';
import type { CliEnvironment } from './environment.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Page, renderCommandHelp, renderOverview } from './help.ts';
import { type CommandTree, parseCommandLine } from './program.ts';
import { createAsk } from './terminal/ask.ts';
import { createOutput, type Output } from './terminal/output.ts';
import type { OutputStream } from './terminal/output-stream.ts';
import { quoteWord } from './terminal/quote-word.ts';

export interface CliProcess {
  /** Arguments after the script's name. */
  argv: readonly string[];
  environment: CliEnvironment;
  stdout: OutputStream;
  stderr: OutputStream;
  /** A user sits at the terminal and can answer. */
  interactive: boolean;
  readStdin(): Promise<string>;
  workDir: string;
  version: string;
  signal: AbortSignal;
}

/** Runs one `hw` command line and returns its exit code. Never throws for errors of the user. */
export async function runCli(process: CliProcess): Promise<ExitCode> {
  const tree: CommandTree = { commands: allCommands(), groups: GROUPS };
  const { argv, stdout } = process;
  // Words under completion are not a command line yet.
  if (argv[0] === '__complete') return completeLine(process, tree);
  let output = outputOf(process, argv.includes('--json'), argv.includes('--quiet'), argv.includes('--no-color'));
  try {
    const request = parseCommandLine(argv, tree);
    if (request.kind === 'version') stdout.write(`hw ${process.version}, Node ${globalThis.process.versions.node}\n`);
    else if (request.kind === 'help')
      stdout.write(`${helpFor(request.words, tree, { style: output.style, width: stdout.columns || undefined })}\n`);
    else {
      const { input, command } = request;
      output = outputOf(process, input.flag('json'), input.flag('quiet'), input.flag('no-color'));
      return await runCommand(process, output, command, input);
    }
    return EXIT.ok;
  } catch (error) {
    const known = asCliError(error, process.signal);
    if (known.exit !== 'interrupted' || known.message !== interrupted().message) output.error(known);
    return EXIT[known.exit];
  }
}

async function runCommand(
  process: CliProcess,
  output: Output,
  command: CommandSpec,
  input: CommandInput,
): Promise<ExitCode> {
  const answer = await command.run(contextOf(process, output, input)).catch((error: unknown) => {
    throw error instanceof CliError && error.exit === 'usage' && error.hint === undefined
      ? usageError(error.message, `See: hw help ${command.path}`)
      : error;
  });
  if (answer === undefined) return EXIT.ok;
  output.answer(answer);
  return EXIT[answer.exit ?? 'ok'];
}

function contextOf(process: CliProcess, output: Output, input: CommandInput): CommandContext {
  const { environment, signal } = process;
  const profiles = openProfiles(environment.configDir, output.warn);
  const given = { url: input.text('url'), apiKey: input.text('api-key'), profile: input.text('profile') };
  const onWait = (seconds: number) => output.note(`The server is busy; trying again in ${seconds} s`);
  let chosen: Promise<ServerChoice> | undefined;
  const server = () => (chosen ??= chooseServer(given, environment, profiles));
  return {
    input,
    output,
    profiles,
    environment,
    signal,
    server,
    ask: createAsk(process.interactive && !output.json),
    workDir: process.workDir,
    readStdin: () => process.readStdin(),
    connect(to) {
      return createApiClient({ ...to, signal, onWait, proxy: useProxy(to.url, environment.inherited) });
    },
    async api(within = signal) {
      const choice = await server();
      const { url, apiKey } = choice;
      if (apiKey === undefined) throw notLoggedIn(url);
      const proxy = useProxy(url, environment.inherited);
      return createApiClient({ url, apiKey, signal: within, onWait, refusedHint: refusedHint(choice), proxy });
    },
  };
}

function notLoggedIn(url: string): CliError {
  const to = url === DEFAULT_URL ? '' : ` --url ${quoteWord(url)}`;
  return new CliError('unauthorized', `Nobody is logged in to ${url}`, {
    hint: `Log in with: hw login${to}   or set HEADWATER_API_KEY`,
  });
}

function outputOf(
  { stdout, stderr, environment }: CliProcess,
  json: boolean,
  quiet: boolean,
  noColor: boolean,
): Output {
  const colors = noColor || environment.noColor ? false : environment.forceColor ? true : undefined;
  return createOutput({ stdout, stderr, json, quiet, colors });
}

function helpFor(words: readonly string[], tree: CommandTree, page: Page): string {
  const [first, second] = words;
  if (first === undefined || (first === 'help' && second === undefined)) return renderOverview(tree, undefined, page);
  const group = tree.groups.find(({ name, aliases = [] }) => name === first || aliases.includes(first));
  if (group !== undefined && second === undefined) return renderOverview(tree, group, page);
  const parent = group?.name;
  const word = parent === undefined ? first : second;
  const command = tree.commands.find(({ path, aliases = [] }) => {
    const [head = '', tail] = path.split(' ');
    if ((parent === undefined) !== (tail === undefined) || (parent !== undefined && head !== parent)) return false;
    const last = tail ?? head;
    return word === last || (word !== undefined && aliases.includes(word));
  });
  if (command !== undefined) return renderCommandHelp(command, page);
  const known = [...tree.commands.map(({ path }) => path), ...tree.groups.map(({ name }) => name)];
  const similar = nearest(words.join(' '), known);
  throw usageError(
    `There is no command ${words.join(' ')}`,
    similar.length > 0 ? `Did you mean ${similar.join(', ')}?` : 'See: hw help',
  );
}

/** Writes no errors: shells do not show them during completion. */
async function completeLine(process: CliProcess, tree: CommandTree): Promise<ExitCode> {
  const { environment } = process;
  const profiles = openProfiles(environment.configDir);
  const names = (kind: NamedKind) => listNames(kind, { environment, profiles }).catch(() => []);
  const lines = await completeWords(process.argv.slice(1), { ...tree, names });
  for (const line of lines) process.stdout.write(`${line}\n`);
  return EXIT.ok;
}

/** A defect is shown with its stack, for the bug report. */
function asCliError(error: unknown, signal: AbortSignal): CliError {
  if (error instanceof CliError) return error;
  if (signal.aborted) return interrupted();
  const { stack, message } = error instanceof Error ? error : new Error(String(error));
  return new CliError('failure', stack ?? message, {
    hint: 'This is a defect of hw: please report it',
    code: 'INTERNAL',
  });
}
