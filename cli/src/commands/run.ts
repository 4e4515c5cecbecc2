import { existsSync } from 'node:fs';
import path from 'node:path';
import { CliError, usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS, type OptionSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { findNamed } from '../names/find-named.ts';
import type { Kind } from '../names/named-kinds.ts';
import { parseJsonOfFile, readTextFile } from '../props/read-props.ts';
import { quoteWord } from '../terminal/quote-word.ts';

export const EVENT: OptionSpec = {
  name: 'event',
  value: 'file',
  summary: 'JSON of the event; `-` reads it from standard input. Else one that fits what starts it.',
  completes: 'files',
};

export const run: CommandSpec = {
  path: 'run',
  summary: 'Run a source or a workflow now',
  details: 'Answers as soon as the run is stored. `hw trace` shows what comes of it.',
  arguments: [{ name: 'name', summary: 'A source or workflow.', completes: { names: ['sources', 'workflows'] } }],
  options: [EVENT],
  examples: [
    { does: 'A tick of a timer', command: 'hw run nightly' },
    { does: 'With an event', command: 'hw run orders --event order.json' },
    { does: 'From another program', command: `echo '{"total":12}' | hw run orders --event -` },
  ],
  json: '{ invocation_id } of a source, { execution_id } of a workflow',
  exits: NAMING_EXITS,
  run: (context) => runNamed(context, ['source', 'workflow']),
};

export async function runNamed(context: CommandContext, kinds: readonly Kind[]) {
  const name = context.input.argument('name');
  const event = await readEvent(context);
  const api = await context.api();
  const { kind, id } = await findNamed(api, kinds, name);
  const body = event === undefined ? {} : { event };
  const send = <T>(to: string) =>
    api.send<T>('POST', to, body).catch((error: unknown) => {
      throw stoppedError(error, name);
    });
  if (kind === 'workflow') {
    const answer = await send<{ execution_id: string }>(`/workflows/${id}/run`);
    const next = `See what comes of it: hw trace ${answer.execution_id}`;
    return { json: answer, text: `Runs as ${answer.execution_id}\n${next}`, quiet: answer.execution_id };
  }
  const answer = await send<{ invocation_id: string }>(`/sources/${id}/run`);
  const next = `See what comes of it: hw trace ${answer.invocation_id}`;
  return { json: answer, text: `Runs as ${answer.invocation_id}\n${next}`, quiet: answer.invocation_id };
}

/**
 * Replaces the server's error for a stopped source: it names the API's parameter, not the `hw`
 * command.
 */
function stoppedError(error: unknown, name: string): unknown {
  if (!(error instanceof CliError) || error.code !== 'CONFLICT' || !error.message.includes('is not active'))
    return error;
  return new CliError('failure', `${name} is stopped`, {
    code: error.code,
    hint: `Start it: hw update ${quoteWord(name)} --activate`,
    cause: error,
  });
}

/** Standard input ends once: each later read answers the same text. */
export function rememberStdin(context: CommandContext): CommandContext {
  let text: Promise<string> | undefined;
  return { ...context, readStdin: () => (text ??= context.readStdin()) };
}

/** JSON of the file, or standard input, that an option names. */
export async function readEvent({ input, workDir, readStdin }: CommandContext, option = 'event'): Promise<unknown> {
  const file = input.text(option);
  if (file === undefined) return undefined;
  if (file === '-') return parseJsonOfFile(await readStdin(), 'Standard input');
  if (/^[{[]/.test(file) && !existsSync(path.resolve(workDir, file)))
    throw usageError(`--${option} takes a file`, `From another program: echo '…' | hw run <name> --event -`);
  return parseJsonOfFile(await readTextFile(path.resolve(workDir, file)), file);
}
