import type { EventRecord } from '../api/resources.ts';
import { type CommandSpec, NAMING_EXITS, type OptionSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { type Feed, followFeed, MAX_HISTORY, readRecent, RECENT } from '../follow/recent-and-new.ts';
import { eventText, logText } from '../follow/show-record.ts';
import { findNamed } from '../names/find-named.ts';
import { KINDS } from '../names/named-kinds.ts';

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

export const events: CommandSpec = {
  path: 'events',
  summary: 'What a source or workflow has emitted',
  details:
    'Oldest first. Away from a terminal an event is a line: time, id, channel, summary, JSON, with tabs between.',
  arguments: [{ name: 'name', summary: 'A source or workflow.', completes: { names: ['sources', 'workflows'] } }],
  options: [
    count('events', MAX_HISTORY, DEFAULT_COUNT),
    FOLLOW,
    { name: 'channel', value: 'name', summary: 'Only events of this channel. `$errors` holds what failed.' },
  ],
  examples: [
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
    await showFeed(context, { fallback: DEFAULT_COUNT, max: MAX_HISTORY }, show, (base) => ({
      listPath: `${base}/event_summaries`,
      historyPath: `${base}/events`,
      streamPath: `${base}/sse`,
      ...(channel === undefined ? {} : { channel }),
    }));
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
  { input, output, signal, api: connect }: CommandContext,
  { fallback, max }: { fallback: number; max: number },
  show: (record: EventRecord) => void,
  feedOf: (base: string) => Feed,
): Promise<void> {
  const limit = input.count('count', { min: 0, max }) ?? fallback;
  const api = await connect();
  const { kind, id } = await findNamed(api, ['source', 'workflow'], input.argument('name'));
  const feed = feedOf(`${KINDS[kind].path}/${id}`);
  if (input.flag('follow')) await followFeed(api, feed, { count: limit, show, output, signal });
  const records = await readRecent(api, feed, limit);
  for (const record of records) show(record);
  if (records.length === 0 && limit > 0) output.note('Nothing yet. Wait for it with -f');
}
