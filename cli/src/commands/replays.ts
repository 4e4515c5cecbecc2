import type { Replay } from '../api/resources.ts';
import { type CommandSpec, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import { momentOf } from '../moment-option.ts';
import { findNamed } from '../names/find-named.ts';
import { localTime } from '../terminal/describe-time.ts';
import { FILTER, filterOf } from './filter-option.ts';

const MAX_RATE = 1_000;
const ID = { name: 'id', summary: 'The replay (`rpl_…`): see `hw replays list`.' } as const;

const create: CommandSpec = {
  path: 'replays create',
  summary: 'Send past events to a webhook, workflow or source',
  details:
    'The listener need not be subscribed. Events go out the oldest first, with the `webhook-id` that they always have, and `headwater-replay-id`. What is sent outlives crashes: one replay sends no event twice.',
  arguments: [
    { name: 'emitter', summary: 'Whose events: a source or workflow.', completes: { names: ['sources', 'workflows'] } },
    {
      name: 'listener',
      summary: 'Who gets them: a webhook, workflow or source.',
      completes: { names: ['webhooks', 'workflows', 'sources'] },
    },
    { name: 'event', summary: 'Only these events (`1606511826306-0`).', variadic: true, optional: true },
  ],
  options: [
    { name: 'since', value: 'time', summary: 'Only events that were stored at this time or later.' },
    { name: 'until', value: 'time', summary: 'Only events that were stored before this time. Default: now.' },
    {
      name: 'channel',
      value: 'name',
      summary: 'Events of this channel; `*` stands for any characters. Default: all but the built-in ones.',
    },
    FILTER,
    { name: 'rate', value: 'number', summary: `At most so many events a second, up to ${MAX_RATE}.` },
    { name: 'dry-run', summary: 'Says how many events there are, and sends none.' },
  ],
  examples: [
    { does: 'How many there are', command: 'hw replays create orders shop --since 2026-11-20 --dry-run' },
    { does: 'A day, slowly', command: 'hw replays create orders shop --since 2026-11-20 --until 2026-11-21 --rate 5' },
  ],
  json: 'the replay, as `POST /v1/replays` answers it',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const ids = input.words('event');
    const body = {
      since: momentOf(input, 'since'),
      until: momentOf(input, 'until'),
      event_name: input.text('channel'),
      filter: filterOf(input),
      rate_per_second: input.count('rate', { min: 1, max: MAX_RATE }),
      ...(ids.length === 0 ? {} : { ids }),
      ...(input.flag('dry-run') ? { dry_run: true } : {}),
    };
    const api = await connect();
    const emitter = await findNamed(api, ['source', 'workflow'], input.argument('emitter'));
    const listener = await findNamed(api, ['webhook', 'workflow', 'source'], input.argument('listener'));
    const made = await api.send<Replay>('POST', '/replays', {
      ...body,
      emitter_id: emitter.id,
      listener_id: listener.id,
    });
    if (made.warning !== null) output.note(made.warning);
    const what = `${made.count_is_complete ? '' : 'At least '}${made.count === 1 ? '1 event' : `${made.count} events`}`;
    return {
      json: made,
      text:
        made.id === null
          ? `${what} would be sent.`
          : `${what} will be sent (${made.id}). See: hw replays show ${made.id}`,
      quiet: made.id ?? `${made.count}`,
    };
  },
};

const list: CommandSpec = {
  path: 'replays list',
  aliases: ['ls'],
  summary: 'The replays of the account',
  examples: [{ does: 'All that are kept', command: 'hw replays list' }],
  json: 'an array of replays',
  exits: SERVER_EXITS,
  async run({ api: connect, output }) {
    const api = await connect();
    const rows = await api.all<Replay>('/replays');
    if (rows.length === 0) output.note('None yet. Begin with: hw replays create <emitter> <listener> --dry-run');
    const table = output.table(rows, [
      { title: 'ID', whole: true, value: (row) => row.id ?? '' },
      { title: 'STATUS', value: (row) => row.status },
      { title: 'SENT', value: sentOf },
      { title: 'EMITTER', value: (row) => row.emitter_id },
      { title: 'LISTENER', value: (row) => row.listener_id },
      { title: 'SINCE', value: (row) => localTime(row.created_at) },
    ]);
    return { json: rows, text: rows.length === 0 ? '' : table };
  },
};

const show: CommandSpec = {
  path: 'replays show',
  summary: 'A replay and how far it is',
  arguments: [ID],
  examples: [{ does: 'One of them', command: 'hw replays show rpl_1vZ8kQ0aB3xYpL9mWc2T' }],
  json: 'the replay, as `GET /v1/replays/{id}` answers it',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const replay = await api.get<Replay>(`/replays/${encodeURIComponent(input.argument('id'))}`);
    const { id, status, error, emitter_id: emitter, listener_id: listener, warning } = replay;
    const lines = [
      `${id}: ${status}${error === null ? '' : `: ${error}`}`,
      `${emitter} to ${listener}, sent ${sentOf(replay)}`,
      ...(warning === null ? [] : [warning]),
    ];
    return { json: replay, text: lines.join('\n') };
  },
};

const cancel: CommandSpec = {
  path: 'replays cancel',
  summary: 'Cancel a replay',
  details: 'What it has sent stays.',
  arguments: [ID],
  examples: [{ does: 'One of them', command: 'hw replays cancel rpl_1vZ8kQ0aB3xYpL9mWc2T' }],
  json: 'the replay, as `DELETE /v1/replays/{id}` answers it',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const replay = await api.send<Replay>('DELETE', `/replays/${encodeURIComponent(input.argument('id'))}`, {});
    return { json: replay, text: `Cancelled ${replay.id}; sent were ${sentOf(replay)}.`, quiet: replay.id ?? '' };
  },
};

function sentOf({ sent, count, count_is_complete: isComplete }: Replay): string {
  return isComplete ? `${sent} of ${count}` : `${sent} of ${count} or more`;
}

export const replayCommands: readonly CommandSpec[] = [create, list, show, cancel];
