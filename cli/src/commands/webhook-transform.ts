import type { ApiClient } from '../api/client.ts';
import { usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS, type OptionSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { findNamed } from '../names/find-named.ts';
import { askForComponent, saveComponent } from './which-component.ts';

export const TRANSFORM_OPTION: OptionSpec = {
  name: 'transform',
  value: 'component',
  summary:
    'Changes each request, or drops it: a file of a component of the type `transform`, which is saved, or the id or key of a saved one; `none`.',
  completes: 'files',
};

const MAX_EVENTS = 10;

/** As the API takes it: a file is saved first, so that the webhook names one version of it. */
export async function transformOf({ input, workDir }: CommandContext, api: ApiClient) {
  const word = input.text('transform');
  if (word === undefined || word === 'none') return { transform_id: word === undefined ? undefined : null };
  return { transform_id: (await saveComponent(api, await askForComponent(word, workDir))).id };
}

interface Previewed {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

interface Preview {
  events: {
    emit_id: string;
    outcome: 'sent' | 'dropped' | 'failed';
    before: Previewed;
    after: Previewed | null;
    reason: string | null;
    error: string | null;
    logs: string[];
  }[];
}

export const previewTransform: CommandSpec = {
  path: 'webhooks preview',
  summary: 'What a transform makes of past events, before it is switched on',
  details: 'Shows each request before and after. Nothing is sent or stored, and a file is not saved.',
  arguments: [
    { name: 'name', summary: 'A webhook, by id or name.', completes: { names: ['webhooks'] } },
    {
      name: 'component',
      summary: 'A file of a component of the type `transform`, or the id or key of a saved one. Default: its own.',
      optional: true,
      completes: 'files',
    },
  ],
  options: [
    { name: 'last', value: 'number', summary: 'So many of the newest events that it got, up to 10. Default: 3.' },
    { name: 'event-id', value: 'id', summary: 'A stored event: `1606511826306-0`.', repeatable: true },
    { name: 'event', value: 'json', summary: 'The data of an event that is made up.' },
  ],
  examples: [
    { does: 'The newest events, with a file that is not saved', command: 'hw webhooks preview shop slim.mjs' },
    { does: 'An event of yours', command: `hw webhooks preview shop --event '{"order":{"id":7}}'` },
  ],
  json: '{ events }: each with its outcome and the request before and after',
  exits: NAMING_EXITS,
  async run(context) {
    const { api: connect, input, workDir } = context;
    const word = input.optionalArgument('component');
    const event = input.text('event');
    const ids = input.list('event-id');
    const choice = word === undefined ? {} : parametersOf((await askForComponent(word, workDir)).parameters);
    const body = {
      ...choice,
      ...(event === undefined ? {} : { event: jsonOf(event) }),
      last: input.count('last', { min: 1, max: MAX_EVENTS }),
      event_ids: ids.length === 0 ? undefined : ids,
    };
    const api = await connect();
    const { id } = await findNamed(api, ['webhook'], input.argument('name'));
    const preview = await api.send<Preview>('POST', `/webhooks/${id}/transform/preview`, body);
    const text = preview.events.map(shown).join('\n\n');
    return { json: preview, text: text === '' ? 'It got no events yet: give one with --event.' : text, quiet: '' };
  },
};

function parametersOf({ component_key: key, component_version: version, ...rest }: Record<string, string>) {
  if (version !== undefined) throw usageError('Name the version by its id (`sc_…`)');
  return key === undefined ? rest : { component_id: key };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`--event is not JSON: ${(error as Error).message}`);
  }
}

function shown({ emit_id, outcome, before, after, reason, error, logs }: Preview['events'][number]): string {
  const why = reason || error;
  const lines = [`${emit_id}: ${outcome}${why === null || why === '' ? '' : `: ${why}`}`];
  lines.push(...linesOf(before).map((line) => `- ${line}`));
  if (after !== null) lines.push(...linesOf(after).map((line) => `+ ${line}`));
  return [...lines, ...logs.map((line) => `  log: ${line}`)].join('\n');
}

function linesOf({ method, path, headers, body }: Previewed): string[] {
  const headerLines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path}`, ...headerLines, body];
}
