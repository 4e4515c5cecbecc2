import type { Subscription } from '@headwater/shared/contract';
import type { ApiClient } from '../api/client.ts';
import type { User } from '../api/resources.ts';
import { CliError, usageError } from '../cli-error.ts';
import { type ArgumentSpec, type CommandSpec, NAMING_EXITS, type OptionSpec, SERVER_EXITS } from '../command.ts';
import { findNamed } from '../names/find-named.ts';
import { confirmDeletion, YES } from './delete.ts';
import { FILTER, filterOf } from './filter-option.ts';
import { IF_MATCH, ifMatchHeader } from './if-match.ts';
import { listSubscriptions } from './list.ts';

const CHANNEL: OptionSpec = {
  name: 'channel',
  value: 'name',
  summary:
    'Events of this channel; `*` stands for any characters. Default: the default channel. `$errors` and `$logs` are built in, and `$webhooks` of the account.',
};

const EMITTER: ArgumentSpec = {
  name: 'emitter',
  summary: 'What emits: a source or workflow, or `dc_*` or `p_*` for all of them; `account` for `$webhooks`.',
  completes: { names: ['sources', 'workflows'] },
};

const LISTENER: ArgumentSpec = {
  name: 'listener',
  summary: 'What listens: a webhook, workflow or source.',
  completes: { names: ['webhooks', 'workflows', 'sources'] },
};

const ID: ArgumentSpec = { name: 'id', summary: 'The subscription (`sub_…`): see `hw subscriptions list`.' };

interface Ends {
  emitter_id: string;
  listener_id: string;
  event_name?: string;
}

async function readEnds(api: ApiClient, emitter: string, listener: string, channel: string | undefined): Promise<Ends> {
  const emitterId = await emitterOf(api, emitter);
  const listenerId = (await findNamed(api, ['webhook', 'workflow', 'source'], listener)).id;
  return { emitter_id: emitterId, listener_id: listenerId, ...(channel === undefined ? {} : { event_name: channel }) };
}

async function emitterOf(api: ApiClient, emitter: string): Promise<string> {
  if (emitter === 'dc_*' || emitter === 'p_*') return emitter;
  if (emitter === 'account') return (await api.get<User>('/users/me')).orgs[0]?.id ?? emitter;
  return (await findNamed(api, ['source', 'workflow'], emitter)).id;
}

const create: CommandSpec = {
  path: 'subscriptions create',
  aliases: ['add'],
  summary: 'Deliver what a source or workflow emits to a webhook, workflow or source',
  arguments: [EMITTER, LISTENER],
  options: [CHANNEL, FILTER],
  examples: [
    { does: 'A webhook gets the events of a source', command: 'hw subscriptions create orders shop' },
    {
      does: 'Those of some channels with some data',
      command: `hw subscriptions create orders shop --channel 'order.*' --filter '{"order.total":{"$gte":100}}'`,
    },
    {
      does: 'It hears of webhooks that are disabled',
      command: "hw subscriptions create account alerts --channel '$webhooks'",
    },
    { does: 'It hears of all failures', command: "hw subscriptions create 'dc_*' alerts --channel '$errors'" },
  ],
  json: 'the subscription, as `POST /v1/subscriptions` answers it',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const ends = await readEnds(api, input.argument('emitter'), input.argument('listener'), input.text('channel'));
    const made = await api.send<Subscription>('POST', '/subscriptions', { ...ends, filter: filterOf(input) });
    return {
      json: made,
      text: `${made.listener_id} now gets what ${made.emitter_id} emits (${made.id}).`,
      quiet: made.id,
    };
  },
};

const show: CommandSpec = {
  path: 'subscriptions show',
  summary: 'A subscription, with the etag of its filter',
  arguments: [ID],
  examples: [{ does: 'One of them', command: 'hw subscriptions show sub_1vZ8kQ0aB3xYpL9mWc2T' }],
  json: 'the subscription, as `GET /v1/subscriptions/{id}` answers it, with its `etag`',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const shown = await api.tagged<Subscription>(`/subscriptions/${encodeURIComponent(input.argument('id'))}`);
    const { id, emitter_id: emitter, listener_id: listener, event_name: channel, filter, etag } = shown;
    const lines = [
      `${id}: ${listener} gets what ${emitter} emits${channel === '' ? '' : ` on ${channel}`}`,
      `Filter: ${filter === null ? 'every event' : JSON.stringify(filter)}`,
      `etag: ${etag}`,
    ];
    return { json: shown, text: lines.join('\n') };
  },
};

const update: CommandSpec = {
  path: 'subscriptions update',
  summary: 'Change the filter of a subscription',
  details: 'It holds for events that are stored from then on.',
  arguments: [ID],
  options: [
    { ...FILTER, summary: 'Another filter: docs/filters.md.' },
    { name: 'no-filter', summary: 'Every event.' },
    { ...IF_MATCH, summary: 'Only where the filter is as it was: the `etag` of `hw subscriptions show`.' },
  ],
  examples: [
    {
      does: 'Orders of 100 and more',
      command: `hw subscriptions update sub_1vZ8kQ0aB3xYpL9mWc2T --filter '{"order.total":{"$gte":100}}'`,
    },
  ],
  json: 'the subscription, as `PUT /v1/subscriptions/{id}` answers it',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const given = filterOf(input);
    if ((given === undefined) !== input.flag('no-filter')) throw usageError('Give --filter or --no-filter');
    const onlyIf = ifMatchHeader({ input });
    const api = await connect();
    const path = `/subscriptions/${encodeURIComponent(input.argument('id'))}`;
    const changed = await api.send<Subscription>('PUT', path, { filter: given ?? null }, onlyIf);
    const what =
      changed.filter === null ? 'Every event passes' : `Events pass that match ${JSON.stringify(changed.filter)}`;
    return { json: changed, text: `${what} (${changed.id}).`, quiet: changed.id };
  },
};

const list: CommandSpec = {
  path: 'subscriptions list',
  aliases: ['ls'],
  summary: 'The subscriptions of the account',
  examples: [{ does: 'All of them', command: 'hw subscriptions list' }],
  json: 'an array of subscriptions',
  exits: SERVER_EXITS,
  run: listSubscriptions,
};

const remove: CommandSpec = {
  path: 'subscriptions delete',
  aliases: ['rm'],
  summary: 'End a subscription',
  arguments: [
    { ...EMITTER, summary: 'What emits, or the id of the subscription (`sub_…`) alone.' },
    { ...LISTENER, optional: true },
  ],
  options: [CHANNEL, YES],
  examples: [
    { does: 'By its id', command: 'hw subscriptions delete sub_1vZ8kQ0aB3xYpL9mWc2T' },
    { does: 'By what made it', command: 'hw subscriptions delete orders shop' },
  ],
  json: '{ emitter_id, listener_id, event_name, deleted }',
  exits: NAMING_EXITS,
  async run(context) {
    const { input } = context;
    const api = await context.api();
    const [emitter, listener] = [input.argument('emitter'), input.optionalArgument('listener')];
    const ends = emitter.startsWith('sub_')
      ? await endsOfId(api, emitter)
      : await readEnds(api, emitter, required(listener), input.text('channel'));
    await confirmDeletion(context, `End the subscription of ${ends.listener_id} to ${ends.emitter_id}?`);
    await api.send('DELETE', '/subscriptions', ends);
    const json = { event_name: '', ...ends, deleted: true };
    return { json, text: `${ends.listener_id} no longer gets what ${ends.emitter_id} emits.`, quiet: '' };
  },
};

function required(listener: string | undefined): string {
  if (listener !== undefined) return listener;
  throw usageError('The listener is missing', 'Name emitter and listener, or the id of the subscription');
}

async function endsOfId(api: ApiClient, id: string): Promise<Ends> {
  const found = (await api.all<Subscription>('/users/me/subscriptions')).find((subscription) => subscription.id === id);
  if (found === undefined) {
    throw new CliError('notFound', `There is no subscription ${id}`, { hint: 'See: hw list subscriptions' });
  }
  return { emitter_id: found.emitter_id, listener_id: found.listener_id, event_name: found.event_name };
}

export const subscriptionCommands: readonly CommandSpec[] = [create, show, update, list, remove];
