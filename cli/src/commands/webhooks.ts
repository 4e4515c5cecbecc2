import type { Delivery, Webhook } from '../api/resources.ts';
import { usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS, type OptionSpec, SERVER_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { momentOf } from '../moment-option.ts';
import { findNamed } from '../names/find-named.ts';
import { IF_MATCH } from './if-match.ts';
import { deleteNamed, YES } from './delete.ts';
import { describeNamed } from './describe.ts';
import { localTime, ofSeconds } from '../terminal/describe-time.ts';
import type { Column } from '../terminal/table.ts';
import { listWebhooks, NAMED } from './list.ts';
import { attempt } from './webhook-attempt.ts';
import { webhookStats } from './webhook-stats.ts';
import { FILTER, filterOf } from './filter-option.ts';
import { retryAll, webhookActionCommands } from './webhook-actions.ts';
import {
  FORMAT_OPTION,
  keyLine,
  PROOF_OPTIONS,
  authOfFlags,
  SECRET_OPTION,
  SIGNATURE_OPTION,
} from './webhook-request.ts';
import { TRANSFORM_OPTION, transformOf } from './webhook-transform.ts';
import { REQUEST_OPTIONS, requestSettingsOf } from './webhook-settings.ts';

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
    FORMAT_OPTION,
    SECRET_OPTION,
    { ...SIGNATURE_OPTION, summary: `${SIGNATURE_OPTION.summary} Default: \`v1\`.` },
    ...REQUEST_OPTIONS,
    ...PROOF_OPTIONS,
    TRANSFORM_OPTION,
  ],
  examples: [
    { does: 'A receiver of orders', command: 'hw webhooks create https://shop.example.com/hooks --name shop' },
  ],
  json: 'the webhook with its `secret`, as `POST /v1/webhooks` answers it',
  exits: SERVER_EXITS,
  async run(context) {
    const { api: connect, input } = context;
    const proof = await authOfFlags(context);
    const api = await connect();
    const [name, description, format] = ['name', 'description', 'format'].map((option) => input.text(option));
    // JSON omits undefined members.
    const secret = input.text('secret');
    const body = {
      url: input.argument('url'),
      name,
      description,
      format,
      secret,
      signature: input.text('signature'),
      ...requestSettingsOf(input),
      ...proof,
      ...(await transformOf(context, api)),
    };
    const webhook = await api.send<Webhook>('POST', '/webhooks', body);
    return { json: webhook, text: `Made the webhook ${webhook.id}\n${keyLine(webhook)}`, quiet: webhook.id };
  },
};

const list: CommandSpec = {
  path: 'webhooks list',
  aliases: ['ls'],
  summary: 'The webhooks of the account',
  options: [NAMED],
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

const FAILURES: readonly OptionSpec[] = [
  {
    name: 'since',
    value: 'time',
    summary: 'Only those of events that were emitted at this time or later: `2026-11-20`, `2026-11-20T14:00Z`.',
  },
  { name: 'until', value: 'time', summary: 'Only those of events that were emitted before this time.' },
  {
    name: 'error-class',
    value: 'class',
    summary:
      'Only those whose last attempt failed like this, or like one of several: `http_3xx`, `http_4xx`, `http_5xx`, `timeout`, `connection`, `refused`, `internal`, `transform`.',
  },
];

function failuresOf(input: CommandContext['input']) {
  const [since, until, errorClass] = [momentOf(input, 'since'), momentOf(input, 'until'), input.text('error-class')];
  return {
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(errorClass === undefined ? {} : { error_class: errorClass }),
  };
}

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
  summary: 'What became of the newest events of a webhook, or of all',
  arguments: [{ ...NAME, summary: 'A webhook, by id or name. Default: all of them.', optional: true }],
  options: [
    {
      name: 'status',
      value: 'status',
      summary:
        'Only those of this status, or of several, separated by commas: `pending`, `sending`, `held`, `delivered`, `failed`, `dropped`, `cancelled`.',
    },
    ...FAILURES,
    { name: 'event', value: 'emit_id', summary: 'Only those of this event, by its `metadata.emit_id`.' },
    {
      name: 'text',
      value: 'text',
      summary: 'Only those with this text in the error, the answer, its headers or the address of an attempt.',
    },
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
      command: `hw webhooks deliveries shop --status failed -n 100 --json | jq '.[].attempts[-1]'`,
    },
    {
      does: 'Timeouts of an hour, of all webhooks',
      command: 'hw webhooks deliveries --error-class timeout --since 2026-11-20T14:00Z --until 2026-11-20T15:00Z',
    },
  ],
  json: 'an array of deliveries with their attempts, newest first',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const limit = input.count('count', { min: 1, max: MAX_DELIVERIES }) ?? DEFAULT_DELIVERIES;
    const [status, event, text] = [input.text('status'), input.text('event'), input.text('text')];
    const filter = {
      ...failuresOf(input),
      ...(status === undefined ? {} : { status }),
      ...(event === undefined ? {} : { emit_id: event }),
      ...(text === undefined ? {} : { text }),
    };
    const api = await connect();
    const name = input.optionalArgument('name');
    const webhook = name === undefined ? undefined : await findNamed(api, ['webhook'], name);
    const path = webhook === undefined ? '/deliveries' : `/webhooks/${webhook.id}/deliveries`;
    const rows = await api.page<Delivery>(path, { limit, ...filter });
    if (rows.length === 0) {
      const isFiltered = Object.keys(filter).length > 0;
      output.note(
        isFiltered
          ? 'None that were looked at.'
          : 'None yet. A webhook gets events once it is subscribed: hw subscriptions create',
      );
    }
    return { json: rows, text: rows.length === 0 ? '' : output.table(rows, deliveryColumns) };
  },
};

const delivery: CommandSpec = {
  path: 'webhooks delivery',
  summary: 'One delivery: each of its attempts, and what the receiver answered',
  arguments: [{ name: 'id', summary: 'The id of the delivery (`dlv_…`).' }],
  examples: [{ does: 'With its attempts', command: 'hw webhooks delivery dlv_1vZ8kQ0aB3xYpL9mWc2T' }],
  json: 'the delivery, as `GET /v1/deliveries/{id}` answers it',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const api = await connect();
    const found = await api.get<Delivery>(`/deliveries/${encodeURIComponent(input.argument('id'))}`);
    const about = [
      `${found.id}: ${found.status}${found.error_class === null ? '' : ` (${found.error_class})`}`,
      `Event ${found.emitter_id}-${found.event_id}, webhook ${found.webhook_id}`,
      ...(found.next_attempt_at === null ? [] : [`Next attempt ${ofSeconds(found.next_attempt_at)}`]),
    ];
    const attempts = output.table(found.attempts, [
      { title: 'ID', whole: true, value: (row) => row.id },
      { title: 'AT', whole: true, value: (row) => localTime(Date.parse(row.at)) },
      { title: 'TRIGGER', value: (row) => row.trigger ?? '' },
      { title: 'TOOK', value: (row) => `${row.duration_ms} ms` },
      { title: 'STATUS', value: (row) => `${row.status_code ?? ''}` },
      { title: 'ANSWER', value: (row) => row.error ?? row.location ?? row.response ?? '' },
    ]);
    return { json: found, text: [...about, ...(found.attempts.length === 0 ? [] : [attempts])].join('\n') };
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
      summary: 'Only these (`dlv_…`); a single one however it has ended. Default: all that have failed.',
      variadic: true,
      optional: true,
    },
  ],
  options: [
    FILTER,
    {
      name: 'status',
      value: 'status',
      summary:
        'Those that have ended like this, separated by commas: `failed` (default), `cancelled`, `dropped`, `delivered`.',
    },
    ...FAILURES,
    { name: 'dry-run', summary: 'Says how many would be due again, and changes nothing.' },
  ],
  examples: [
    { does: 'All that have failed', command: 'hw webhooks redeliver shop' },
    { does: 'One of them', command: 'hw webhooks redeliver shop dlv_1vZ8kQ0aB3xYpL9mWc2T' },
    { does: 'Those of large orders', command: `hw webhooks redeliver shop --filter '{"order.total":{"$gte":100}}'` },
    { does: 'What was discarded', command: 'hw webhooks redeliver shop --status cancelled --since 2026-11-20' },
    {
      does: 'How many timeouts of a day there are',
      command: 'hw webhooks redeliver shop --error-class timeout --since 2026-11-20 --until 2026-11-21 --dry-run',
    },
  ],
  json: '{ count }: the deliveries that are due again, or would be',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const name = input.argument('name');
    const isDryRun = input.flag('dry-run');
    const status = input.text('status');
    const filter = filterOf(input);
    const choice = {
      ...failuresOf(input),
      ...(status === undefined ? {} : { status }),
      ...(filter === undefined ? {} : { filter }),
    };
    const named = input.words('delivery');
    const [deliveryId] = named.length === 1 ? named : [];
    const ids = named.length > 1 ? { ids: named } : {};
    if (deliveryId !== undefined && (isDryRun || Object.keys(choice).length > 0))
      throw usageError('A delivery that is named goes with no other choice');
    const api = await connect();
    const { id } = await findNamed(api, ['webhook'], name);
    const body = { delivery_id: deliveryId, ...ids, ...choice, ...(isDryRun ? { dry_run: true } : {}) };
    const answer = await retryAll(api, `/webhooks/${id}/redeliver`, body);
    const count = answer.count === 1 ? '1 delivery' : `${answer.count} deliveries`;
    const verb = isDryRun ? 'would be' : answer.count === 1 ? 'is' : 'are';
    return { json: answer, text: `${count} ${verb} due again.`, quiet: '' };
  },
};

const remove: CommandSpec = {
  path: 'webhooks delete',
  aliases: ['rm'],
  summary: 'Delete a webhook and its subscriptions',
  arguments: [NAME],
  options: [YES, IF_MATCH],
  examples: [{ does: 'By name, without a question', command: 'hw webhooks delete shop -y' }],
  json: '{ id, deleted }',
  exits: NAMING_EXITS,
  run: (context) => deleteNamed(context, ['webhook']),
};

export const webhookCommands: readonly CommandSpec[] = [
  create,
  list,
  describe,
  deliveries,
  delivery,
  attempt,
  webhookStats,
  redeliver,
  ...webhookActionCommands,
  remove,
];
