import type { ApiClient } from '../api/client.ts';
import type { Delivery, Webhook } from '../api/resources.ts';
import { usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import { findNamed } from '../names/find-named.ts';
import { ofSeconds } from '../terminal/describe-time.ts';
import { confirmed, YES } from './delete.ts';
import { FILTER, filterOf } from './filter-option.ts';
import { IF_MATCH, ifMatchHeader } from './if-match.ts';
import {
  FORMAT_OPTION,
  keyLine,
  PROOF_OPTIONS,
  authOfFlags,
  SECRET_OPTION,
  SIGNATURE_OPTION,
} from './webhook-request.ts';
import { previewTransform, TRANSFORM_OPTION, transformOf } from './webhook-transform.ts';
import { REQUEST_OPTIONS, requestSettingsOf } from './webhook-settings.ts';
import { parseExactJson } from '../exact-json.ts';

const NAME = { name: 'name', summary: 'A webhook, by id or name.', completes: { names: ['webhooks'] } } as const;
const MAX_OVERLAP_HOURS = 168;
const MAX_DRAIN_PER_SECOND = 10_000;

const update: CommandSpec = {
  path: 'webhooks update',
  summary: 'Change a webhook, stop it or start it',
  details: 'What is not named stays as it is. A change holds from the next attempt on, retries included.',
  arguments: [NAME],
  options: [
    { name: 'to', value: 'url', summary: 'Where events are sent.' },
    { name: 'name', value: 'name', summary: 'Another name.' },
    { name: 'description', value: 'text', summary: 'What it is for.' },
    FORMAT_OPTION,
    ...REQUEST_OPTIONS,
    ...PROOF_OPTIONS,
    TRANSFORM_OPTION,
    { name: 'activate', summary: 'Start it: what it held is sent, the oldest first.' },
    { name: 'drain-per-second', value: 'number', summary: 'With --activate: how much of that a second.' },
    { name: 'deactivate', summary: 'Stop it: what is pending is held, and so are new events.' },
    IF_MATCH,
  ],
  examples: [
    { does: 'Another address', command: 'hw webhooks update shop --to https://shop.example.com/v2/hooks' },
    { does: 'A token for the receiver', command: "hw webhooks update shop --header 'Authorization: Bearer 6f1c'" },
    { does: 'Hold everything', command: 'hw webhooks update shop --deactivate' },
    { does: 'Send what was held', command: 'hw webhooks update shop --activate --drain-per-second 20' },
    { does: 'A transform of its requests', command: 'hw webhooks update shop --transform slim.mjs' },
    { does: 'Three attempts within a minute', command: 'hw webhooks update shop --retry-schedule 10,50' },
  ],
  json: 'the webhook, as `PUT /v1/webhooks/{id}` answers it',
  exits: NAMING_EXITS,
  async run(context) {
    const { api: connect, input } = context;
    const [start, stop] = [input.flag('activate'), input.flag('deactivate')];
    if (start && stop) throw usageError('--activate and --deactivate contradict each other');
    const drain_per_second = input.count('drain-per-second', { min: 1, max: MAX_DRAIN_PER_SECOND });
    if (drain_per_second !== undefined && !start) throw usageError('--drain-per-second goes with --activate');
    const [url, name, description, format] = ['to', 'name', 'description', 'format'].map((one) => input.text(one));
    const body = {
      url,
      name,
      description,
      format,
      ...requestSettingsOf(input),
      ...(await authOfFlags(context)),
      active: start || (stop ? false : undefined),
      drain_per_second,
    };
    if (input.text('transform') === undefined && Object.values(body).every((value) => value === undefined))
      throw usageError('Say what is to be changed');
    const onlyIf = ifMatchHeader({ input });
    const api = await connect();
    const { id } = await findNamed(api, ['webhook'], input.argument('name'));
    const whole = { ...body, ...(await transformOf(context, api)) };
    const webhook = await api.send<Webhook>('PUT', `/webhooks/${id}`, whole, onlyIf);
    return { json: webhook, text: `Changed the webhook ${webhook.id}`, quiet: webhook.id };
  },
};

const retry: CommandSpec = {
  path: 'webhooks retry',
  summary: 'Try pending deliveries again now',
  details:
    'For after an outage: deliveries that wait for their next attempt are due at once, and their schedule begins anew. What has failed for good is delivered again by `hw webhooks redeliver`.',
  arguments: [
    NAME,
    { name: 'delivery', summary: 'Only these (`dlv_…`). Default: all that wait.', variadic: true, optional: true },
  ],
  options: [FILTER],
  examples: [
    { does: 'All that wait', command: 'hw webhooks retry shop' },
    { does: 'Those of large orders', command: `hw webhooks retry shop --filter '{"order.total":{"$gte":100}}'` },
  ],
  json: '{ count }: the deliveries that are due now',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const { id } = await findNamed(api, ['webhook'], input.argument('name'));
    const ids = input.words('delivery');
    const body = { filter: filterOf(input), ...(ids.length === 0 ? {} : { ids }) };
    const answer = await retryAll(api, `/webhooks/${id}/retry`, body);
    const what = answer.count === 1 ? '1 delivery is' : `${answer.count} deliveries are`;
    return { json: answer, text: `${what} due now.`, quiet: '' };
  },
};

const discard: CommandSpec = {
  path: 'webhooks discard',
  summary: 'Give up what waits for a webhook',
  details:
    'All deliveries that are pending or held are cancelled. They stay in lists; hw webhooks redeliver sends one after all.',
  arguments: [NAME],
  options: [YES],
  examples: [{ does: 'Without a question', command: 'hw webhooks discard shop -y' }],
  json: '{ count }: the deliveries that are cancelled',
  exits: NAMING_EXITS,
  async run(context) {
    const name = context.input.argument('name');
    const api = await context.api();
    const { id } = await findNamed(api, ['webhook'], name);
    await confirmed(context, `Give up what waits for the webhook ${name}?`, 'Nothing was discarded');
    const answer = await api.send<{ count: number }>('POST', `/webhooks/${id}/discard`);
    const what = answer.count === 1 ? '1 delivery is' : `${answer.count} deliveries are`;
    return { json: answer, text: `${what} cancelled.`, quiet: '' };
  },
};

const skip: CommandSpec = {
  path: 'webhooks skip',
  summary: 'Give up one delivery, so that the next one of its key is sent',
  arguments: [{ name: 'delivery', summary: 'A delivery that waits (`dlv_…`).' }],
  examples: [{ does: 'One that holds up the others', command: 'hw webhooks skip dlv_1vZ8kQ0aB3xYpL9mWc2T' }],
  json: 'the delivery, as `POST /v1/deliveries/{id}/skip` answers it',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const id = input.argument('delivery');
    const delivery = await api.send<Delivery>('POST', `/deliveries/${encodeURIComponent(id)}/skip`);
    return { json: delivery, text: `${delivery.id} is ${delivery.status}.`, quiet: delivery.id };
  },
};

interface Retried {
  count: number;
  /** Only with a filter, where more may wait. */
  end_cursor?: string;
}

/** One request checks a limited number of deliveries; with a filter, another request continues. */
export async function retryAll(api: ApiClient, path: string, body: object): Promise<Retried> {
  let answer = await api.send<Retried>('POST', path, body);
  let { count } = answer;
  while (answer.end_cursor !== undefined) {
    answer = await api.send<Retried>('POST', path, { ...body, after: answer.end_cursor });
    count += answer.count;
  }
  return { count };
}

interface Rotation {
  secret: string | null;
  public_key: string | null;
  previous_until: number | null;
}

const rotateSecret: CommandSpec = {
  path: 'webhooks rotate-secret',
  summary: 'Replace the signing secret of a webhook',
  details: 'For the overlap each request carries a signature of both secrets.',
  arguments: [NAME],
  options: [
    { name: 'overlap', value: 'hours', summary: `From 0 to ${MAX_OVERLAP_HOURS}. Default: 24.` },
    SECRET_OPTION,
    { ...SIGNATURE_OPTION, summary: `${SIGNATURE_OPTION.summary} Default: as before.` },
  ],
  examples: [{ does: 'With a day to change the receiver', command: 'hw webhooks rotate-secret shop' }],
  json: '{ id, secret, public_key, previous_until }',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const overlap_hours = input.count('overlap', { min: 0, max: MAX_OVERLAP_HOURS });
    const api = await connect();
    const { id } = await findNamed(api, ['webhook'], input.argument('name'));
    const body = { overlap_hours, secret: input.text('secret'), signature: input.text('signature') };
    const answer = await api.send<Rotation>('POST', `/webhooks/${id}/rotate_secret`, body);
    const until = answer.previous_until;
    const overlap =
      until === null ? 'The old one signs no more.' : `The old one signs as well until ${ofSeconds(until)}.`;
    return { json: answer, text: `${keyLine(answer)}\n${overlap}`, quiet: answer.secret ?? answer.public_key ?? '' };
  },
};

interface TestAnswer {
  message_id: string;
  delivered: boolean;
  attempt: { status_code: number | null; error: string | null; duration_ms: number; response: string | null };
}

const test: CommandSpec = {
  path: 'webhooks test',
  summary: 'Send a signed test request to a webhook',
  details:
    'One request at once, whether or not the webhook is subscribed or active. Nothing is stored or tried again. The exit code is 1 where it is not delivered.',
  arguments: [NAME],
  options: [
    { name: 'event', value: 'json', summary: 'What is sent. Default: a sample.' },
    { name: 'event-id', value: 'id', summary: 'A stored event that is sent instead: `1606511826306-0`.' },
  ],
  examples: [
    { does: 'A sample', command: 'hw webhooks test shop' },
    { does: 'An event of yours', command: `hw webhooks test shop --event '{"order":{"id":7}}'` },
  ],
  json: '{ message_id, delivered, attempt }',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const event = input.text('event');
    const body = { ...(event === undefined ? {} : { event: jsonOf(event) }), event_id: input.text('event-id') };
    const api = await connect();
    const { id } = await findNamed(api, ['webhook'], input.argument('name'));
    const answer = await api.send<TestAnswer>('POST', `/webhooks/${id}/test`, body);
    const { status_code: status, error, duration_ms: ms, response } = answer.attempt;
    const outcome = `${answer.delivered ? 'Delivered' : 'Not delivered'}: ${status ?? error ?? 'no answer'} in ${Math.round(ms)} ms`;
    const text = response === null ? outcome : `${outcome}\n${response}`;
    const exit = answer.delivered ? {} : { exit: 'failure' as const };
    return { json: answer, text, quiet: answer.message_id, ...exit };
  },
};

function jsonOf(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    throw usageError(`--event is not JSON: ${(error as Error).message}`);
  }
}

export const webhookActionCommands: readonly CommandSpec[] = [
  update,
  test,
  previewTransform,
  retry,
  discard,
  skip,
  rotateSecret,
];
