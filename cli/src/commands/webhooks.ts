import type { Delivery, Webhook } from '../api/resources.ts';
import { type CommandSpec, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import { findNamed } from '../names/find-named.ts';
import { deleteNamed, YES } from './delete.ts';
import { describeNamed } from './describe.ts';
import { ofSeconds } from '../terminal/describe-time.ts';
import type { Column } from '../terminal/table.ts';
import { listWebhooks } from './list.ts';

const NAME = { name: 'name', summary: 'A webhook, by id or name.', completes: { names: ['webhooks'] } } as const;

const create: CommandSpec = {
  path: 'webhooks create',
  aliases: ['add'],
  summary: 'Make a webhook: a URL that events are delivered to',
  details:
    'The secret that signs its deliveries is in the answer. It gets events once it is subscribed: hw subscriptions create.',
  arguments: [{ name: 'url', summary: 'Where events are sent.' }],
  options: [
    { name: 'name', value: 'name', summary: 'For your own reference, and for naming it here.' },
    { name: 'description', value: 'text', summary: 'What it is for.' },
    {
      name: 'format',
      value: 'format',
      summary: '`raw`: the event; `envelope`: `{ type, timestamp, data }` around it.',
      choices: ['raw', 'envelope'],
    },
  ],
  examples: [
    { does: 'A receiver of orders', command: 'hw webhooks create https://shop.example.com/hooks --name shop' },
  ],
  json: 'the webhook with its `secret`, as `POST /v1/webhooks` answers it',
  exits: SERVER_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const [name, description, format] = ['name', 'description', 'format'].map((option) => input.text(option));
    // What is undefined is left out of JSON.
    const body = { url: input.argument('url'), name, description, format };
    const webhook = await api.send<Webhook>('POST', '/webhooks', body);
    return { json: webhook, text: `Made the webhook ${webhook.id}\nSecret: ${webhook.secret}`, quiet: webhook.id };
  },
};

const list: CommandSpec = {
  path: 'webhooks list',
  aliases: ['ls'],
  summary: 'The webhooks of the account',
  examples: [{ does: 'All of them', command: 'hw webhooks list' }],
  json: 'an array of webhooks, without secrets',
  exits: SERVER_EXITS,
  run: listWebhooks,
};

const describe: CommandSpec = {
  path: 'webhooks describe',
  aliases: ['show'],
  summary: 'A webhook, with its secret',
  arguments: [NAME],
  examples: [{ does: 'By name', command: 'hw webhooks describe shop' }],
  json: 'the webhook with its `secret`',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const api = await connect();
    return describeNamed(api, output, await findNamed(api, ['webhook'], input.argument('name')));
  },
};

const DEFAULT_DELIVERIES = 20;
const MAX_DELIVERIES = 100;

const deliveryColumns: readonly Column<Delivery>[] = [
  { title: 'ID', whole: true, value: (row) => row.id },
  { title: 'EVENT', whole: true, value: (row) => row.event_id },
  { title: 'STATUS', value: (row) => row.status },
  { title: 'ATTEMPTS', value: (row) => `${row.attempts.length}` },
  { title: 'LAST', value: ({ attempts }) => `${attempts.at(-1)?.status_code ?? attempts.at(-1)?.error ?? ''}` },
  { title: 'NEXT', value: (row) => ofSeconds(row.next_attempt_at) },
];

const deliveries: CommandSpec = {
  path: 'webhooks deliveries',
  summary: 'What became of the newest events of a webhook',
  arguments: [NAME],
  options: [
    {
      name: 'count',
      short: 'n',
      value: 'number',
      summary: `How many, up to ${MAX_DELIVERIES}. Default: ${DEFAULT_DELIVERIES}.`,
    },
  ],
  examples: [
    { does: 'The newest ones', command: 'hw webhooks deliveries shop' },
    {
      does: 'What the receiver answered to those that failed',
      command: `hw webhooks deliveries shop -n 100 --json | jq '.[] | select(.status == "failed") | .attempts[-1]'`,
    },
  ],
  json: 'an array of deliveries with their attempts, newest first',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const limit = input.count('count', { min: 1, max: MAX_DELIVERIES }) ?? DEFAULT_DELIVERIES;
    const api = await connect();
    const { id } = await findNamed(api, ['webhook'], input.argument('name'));
    const rows = await api.page<Delivery>(`/webhooks/${id}/deliveries`, { limit });
    if (rows.length === 0)
      output.note('None yet. A webhook gets events once it is subscribed: hw subscriptions create');
    return { json: rows, text: rows.length === 0 ? '' : output.table(rows, deliveryColumns) };
  },
};

const redeliver: CommandSpec = {
  path: 'webhooks redeliver',
  summary: 'Deliver again what has failed',
  details:
    'The header `webhook-id` stays the same, so that a receiver can tell what it has seen; the schedule of retries begins anew.',
  arguments: [
    NAME,
    {
      name: 'delivery',
      summary: 'Only this one (`dlv_…`), however it has ended. Default: all that have failed.',
      optional: true,
    },
  ],
  examples: [
    { does: 'All that have failed', command: 'hw webhooks redeliver shop' },
    { does: 'One of them', command: 'hw webhooks redeliver shop dlv_1vZ8kQ0aB3xYpL9mWc2T' },
  ],
  json: '{ count }: the deliveries that are due again',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const name = input.argument('name');
    const api = await connect();
    const { id } = await findNamed(api, ['webhook'], name);
    const body = { delivery_id: input.optionalArgument('delivery') };
    const answer = await api.send<{ count: number }>('POST', `/webhooks/${id}/redeliver`, body);
    const what = answer.count === 1 ? '1 delivery is' : `${answer.count} deliveries are`;
    return { json: answer, text: `${what} due again.`, quiet: '' };
  },
};

const remove: CommandSpec = {
  path: 'webhooks delete',
  aliases: ['rm'],
  summary: 'Delete a webhook and its subscriptions',
  arguments: [NAME],
  options: [YES],
  examples: [{ does: 'By name, without a question', command: 'hw webhooks delete shop -y' }],
  json: '{ id, deleted }',
  exits: NAMING_EXITS,
  run: (context) => deleteNamed(context, ['webhook']),
};

export const webhookCommands: readonly CommandSpec[] = [create, list, describe, deliveries, redeliver, remove];
