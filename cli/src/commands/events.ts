import type { Parameters } from '../api/client.ts';
import type { EventRecord } from '../api/resources.ts';
import { type CommandSpec, NAMING_EXITS, type OptionSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { type Feed, followFeed, MAX_HISTORY, readRecent, RECENT } from '../follow/recent-and-new.ts';
import { eventText, logText } from '../follow/show-record.ts';
import { momentOf } from '../moment-option.ts';
import { confirmDeletion, YES } from './delete.ts';
import { findNamed } from '../names/find-named.ts';
import { KINDS } from '../names/named-kinds.ts';
import { FILTER, filterOf } from './filter-option.ts';

const DEFAULT_COUNT = 10;
const DEFAULT_LINES = 100;

const FOLLOW: OptionSpec = {
  name: 'follow',
  short: 'f',
  summary: 'Go on with new ones until Ctrl-C; a lost connection is taken up again where it broke off.',
};

const count = (of: string, max: number, fallback: number): OptionSpec => ({
  name: 'count',
  short: 'n',
  value: 'number',
  summary: `How many recent ${of}, up to ${max}. Default: ${fallback}.`,
});

const ALL: OptionSpec = {
  name: 'all',
  summary: 'All that are kept, newest first, as they are read: however many there are, one is in memory.',
};

/** Each event that is found, with whole data. */
async function showAll({ output, api: connect }: CommandContext, query: Parameters): Promise<void> {
  const api = await connect();
  const cursorOf = ({ metadata }: EventRecord) => metadata.emit_id;
  for await (const record of api.lines<EventRecord>('/events', query, cursorOf))
    output.record(record, eventText(record, output.style, output.forTerminal));
}

export const showEvents: CommandSpec = {
  path: 'events',
  summary: 'What a source or workflow has emitted',
  details:
    'Oldest first. Away from a terminal an event is a line: time, id, channel, summary, JSON, with tabs between.',
  arguments: [{ name: 'name', summary: 'A source or workflow.', completes: { names: ['sources', 'workflows'] } }],
  options: [
    count('events', MAX_HISTORY, DEFAULT_COUNT),
    ALL,
    FOLLOW,
    { name: 'channel', value: 'name', summary: 'Only events of this channel. `$errors` holds what failed.' },
  ],
  examples: [
    { does: 'All of them, into a file', command: 'hw events orders --all --json > orders.ndjson' },
    { does: 'The last event', command: 'hw events orders -n 1' },
    { does: 'New ones as they come', command: 'hw events orders -f' },
    { does: 'The payloads alone', command: 'hw events orders -n 1000 --json | jq .event' },
  ],
  json: 'one record a line, as in `GET /v1/sources/{id}/event_summaries`',
  exits: [...NAMING_EXITS, 'interrupted'],
  async run(context) {
    const { input, output } = context;
    const show = (record: EventRecord) => output.record(record, eventText(record, output.style, output.forTerminal));
    const channel = input.text('channel');
    if (input.flag('all')) {
      const { id } = await findNamed(await context.api(), ['source', 'workflow'], input.argument('name'));
      await showAll(context, { emitter_id: id, event_name: channel });
      return undefined;
    }
    await showFeed(context, { fallback: DEFAULT_COUNT, max: MAX_HISTORY }, show, (base) => ({
      listPath: `${base}/event_summaries`,
      historyPath: `${base}/events`,
      streamPath: `${base}/sse`,
      ...(channel === undefined ? {} : { channel }),
    }));
    return undefined;
  },
};

export const deleteSomeEvents: CommandSpec = {
  path: 'events delete',
  summary: 'Delete events of a source or workflow',
  details: 'All of them, or those between two. What was delivered stays delivered.',
  arguments: [{ name: 'name', summary: 'A source or workflow.', completes: { names: ['sources', 'workflows'] } }],
  options: [
    { name: 'from', value: 'id', summary: 'The first one: its `emit_id`. Default: the oldest.' },
    { name: 'to', value: 'id', summary: 'The last one. Default: the newest.' },
    YES,
  ],
  examples: [{ does: 'All of them', command: 'hw events delete orders -y' }],
  json: '{ id, deleted }',
  exits: NAMING_EXITS,
  async run(context) {
    const { input } = context;
    const api = await context.api();
    const word = input.argument('name');
    const { kind, id } = await findNamed(api, ['source', 'workflow'], word);
    await confirmDeletion(context, `Delete events of ${word}?`);
    const body = { start_id: input.text('from'), end_id: input.text('to') };
    await api.send('DELETE', `/${kind}s/${id}/events`, body);
    return { json: { id, deleted: true }, text: `The events of ${word} are being deleted.`, quiet: '' };
  },
};

const MAX_FOUND = 100;

export const search: CommandSpec = {
  path: 'search',
  summary: 'Search the events of all sources and workflows',
  details:
    'Newest first. A search looks through so many events and says how far back it has looked; --until goes on from there, and --all looks through everything.',
  arguments: [
    { name: 'text', summary: 'In the JSON of the data or in the summary, letter by letter.', optional: true },
  ],
  options: [
    {
      name: 'emitter',
      value: 'name',
      summary: 'Only those of this source or workflow.',
      completes: { names: ['sources', 'workflows'] },
    },
    { name: 'channel', value: 'name', summary: 'Only events of this channel. `$errors` holds what failed.' },
    { name: 'id', value: 'id', summary: 'The id of an event, its `emit_id`, or the id that the component gave.' },
    FILTER,
    {
      name: 'since',
      value: 'time',
      summary: 'Only those that were stored at this time or later: `2026-11-20`, `2026-11-20T14:00Z`.',
    },
    { name: 'until', value: 'time', summary: 'Only those that were stored before this time.' },
    count('events', MAX_FOUND, DEFAULT_COUNT),
    ALL,
  ],
  examples: [
    { does: 'By a number in the payload', command: `hw search '"order":4711'` },
    { does: 'By what a member is', command: `hw search --filter '{"order.total":{"$gte":100}}'` },
    {
      does: 'What failed in an hour',
      command: "hw search --channel '$errors' --since 2026-11-20T14:00Z --until 2026-11-20T15:00Z",
    },
  ],
  json: 'one record a line, as in `GET /v1/events`',
  exits: NAMING_EXITS,
  async run(context) {
    const { input, output, api: connect } = context;
    const limit = input.count('count', { min: 1, max: MAX_FOUND }) ?? DEFAULT_COUNT;
    const api = await connect();
    const [name, channel, id] = [input.text('emitter'), input.text('channel'), input.text('id')];
    const emitter = name === undefined ? undefined : await findNamed(api, ['source', 'workflow'], name);
    const [text, since, until] = [input.optionalArgument('text'), momentOf(input, 'since'), momentOf(input, 'until')];
    const filter = filterOf(input);
    const query = {
      ...(emitter === undefined ? {} : { emitter_id: emitter.id }),
      ...(channel === undefined ? {} : { event_name: channel }),
      ...(id === undefined ? {} : { id }),
      ...(text === undefined ? {} : { text }),
      ...(filter === undefined ? {} : { filter: JSON.stringify(filter) }),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    };
    if (input.flag('all')) {
      await showAll(context, query);
      return undefined;
    }
    const found = await api.list<EventRecord>('/events', { limit, expand: 'event', ...query });
    for (const record of found.data) output.record(record, eventText(record, output.style, output.forTerminal));
    const lookedUntilMs = found.page_info?.scanned_until;
    if (lookedUntilMs !== undefined)
      output.note(`Looked back to ${new Date(lookedUntilMs).toISOString()}; go on with --until.`);
    return undefined;
  },
};

export const logs: CommandSpec = {
  path: 'logs',
  summary: 'What runs of a source or workflow have logged, and why they failed',
  arguments: [{ name: 'name', summary: 'A source or workflow.', completes: { names: ['sources', 'workflows'] } }],
  options: [count('lines', RECENT, DEFAULT_LINES), FOLLOW],
  examples: [
    { does: 'The last lines', command: 'hw logs orders -n 20' },
    { does: 'New ones as they come', command: 'hw logs orders -f' },
  ],
  json: 'one record a line: `event` is `{ level, message, ts, run, step?, code?, limit? }`, with `code` where a run failed, and `limit` (`{ name, value, used }`) where one cut the line or dropped those behind it',
  exits: [...NAMING_EXITS, 'interrupted'],
  async run(context) {
    const { output } = context;
    const show = (record: EventRecord) => output.record(record, logText(record, output.style));
    await showFeed(context, { fallback: DEFAULT_LINES, max: RECENT }, show, (base) => ({
      listPath: `${base}/$logs/event_summaries`,
      streamPath: `${base}/logs`,
    }));
    return undefined;
  },
};

async function showFeed(
  { input, output, api: connect }: CommandContext,
  { fallback, max }: { fallback: number; max: number },
  show: (record: EventRecord) => void,
  feedOf: (base: string) => Feed,
): Promise<void> {
  const limit = input.count('count', { min: 0, max }) ?? fallback;
  const api = await connect();
  const { kind, id } = await findNamed(api, ['source', 'workflow'], input.argument('name'));
  const feed = feedOf(`${KINDS[kind].path}/${id}`);
  if (input.flag('follow')) await followFeed(api, feed, { count: limit, show, output });
  const records = await readRecent(api, feed, limit);
  for (const record of records) show(record);
  if (records.length === 0 && limit > 0) output.note('Nothing yet. Wait for it with -f');
}
