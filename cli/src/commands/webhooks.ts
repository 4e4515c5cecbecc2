import type { Webhook } from '../api/resources.ts';
import { type CommandSpec, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import { findNamed } from '../names/find-named.ts';
import { deleteNamed, YES } from './delete.ts';
import { describeNamed } from './describe.ts';
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

export const webhookCommands: readonly CommandSpec[] = [create, list, describe, remove];
