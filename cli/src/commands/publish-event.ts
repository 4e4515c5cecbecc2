import path from 'node:path';
import { usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { findNamed } from '../names/find-named.ts';
import { parseJsonOfFile, readTextFile } from '../props/read-props.ts';

interface Publication {
  source_id: string;
  trace_id: string;
  events: { id: string; duplicate: boolean }[];
}

export const publishEvent: CommandSpec = {
  path: 'events publish',
  summary: 'Publish an event, or a batch, without code',
  details:
    'The event is durable when the command ends, and is delivered to whatever is subscribed. Without a source it goes to the source `Events` of the account, which is made with the first one. An id that was published before is a duplicate and is not stored again.',
  arguments: [{ name: 'source', summary: 'Whose event it is.', optional: true, completes: { names: ['sources'] } }],
  options: [
    {
      name: 'data',
      value: 'json',
      summary: 'What receivers get. `@file` reads it from a file, `-` from standard input.',
    },
    { name: 'channel', value: 'name', summary: 'On which channel. Default: the default one.' },
    { name: 'id', value: 'id', summary: 'Yours: published again within a day, the event is a duplicate.' },
    { name: 'summary', value: 'text', summary: 'A line for lists.' },
    {
      name: 'batch',
      value: 'file',
      summary: 'A JSON array of `{ data, id?, event_name?, summary?, timestamp? }` instead; `-` reads standard input.',
      completes: 'files',
    },
  ],
  examples: [
    { does: 'One event', command: `hw events publish --channel order.paid --data '{"order":4711}'` },
    { does: 'As an event of a source, once', command: 'hw events publish orders --id order-4711 --data @order.json' },
    { does: 'A batch', command: 'hw events publish orders --batch events.json' },
  ],
  json: '{ source_id, trace_id, events }',
  exits: NAMING_EXITS,
  async run(context) {
    const { api: connect, input } = context;
    const body = await bodyOf(context);
    const name = input.optionalArgument('source');
    const api = await connect();
    const source = name === undefined ? undefined : await findNamed(api, ['source'], name);
    const to = source === undefined ? '/events' : `/sources/${source.id}/events`;
    const answer = await api.send<Publication>('POST', to, body);
    const { events, trace_id: trace } = answer;
    const known = events.filter(({ duplicate }) => duplicate).length;
    const stored = `${events.length - known} stored${known === 0 ? '' : `, ${known} known before`}`;
    const ids = events.map(({ id }) => id).join('\n');
    return { json: answer, text: `${stored}\n${ids}\nSee what comes of it: hw trace ${trace}`, quiet: ids };
  },
};

async function bodyOf(context: CommandContext): Promise<object> {
  const { input } = context;
  const [batch, data] = [input.text('batch'), input.text('data')];
  const one = { event_name: input.text('channel'), id: input.text('id'), summary: input.text('summary') };
  if (batch === undefined) {
    if (data === undefined) throw usageError('Say what is to be published', "--data '{…}' or --batch file");
    return { ...one, data: parseJsonOfFile(await givenText(context, data), '--data') };
  }
  if (data !== undefined || Object.values(one).some((value) => value !== undefined))
    throw usageError('--batch says all of its events: give no other option beside it');
  const events = parseJsonOfFile(await givenText(context, batch === '-' ? batch : `@${batch}`), '--batch');
  if (!Array.isArray(events)) throw usageError('--batch is not a JSON array');
  return { events };
}

/** As it is; `@file` is the text of a file, `-` that of standard input. */
export async function givenText({ readStdin, workDir }: CommandContext, given: string): Promise<string> {
  if (given === '-') return readStdin();
  return given.startsWith('@') ? readTextFile(path.resolve(workDir, given.slice(1))) : given;
}
