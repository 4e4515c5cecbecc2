import { type CommandSpec, SERVER_EXITS } from '../command.ts';
import { localTime } from '../terminal/describe-time.ts';
import type { Column } from '../terminal/table.ts';

interface SampleRequest {
  id: string;
  webhook_id: string;
  delivery_id: string;
  received_at: number;
  verified: boolean;
  verdict: string;
  body: string;
}

const columns: readonly Column<SampleRequest>[] = [
  { title: 'RECEIVED', whole: true, value: (row) => localTime(row.received_at) },
  { title: 'WEBHOOK', whole: true, value: (row) => row.webhook_id },
  { title: 'SIGNATURE', value: (row) => (row.verified ? 'verified' : row.verdict) },
  { title: 'BODY', value: (row) => row.body },
];

const describe: CommandSpec = {
  path: 'receiver url',
  summary: 'The URL of the built-in receiver, for first tries of a webhook',
  details: 'It takes deliveries of webhooks of this account, and nothing else reaches it.',
  examples: [{ does: 'Its URL, for hw webhooks create', command: 'hw receiver url' }],
  json: 'the receiver, as `GET /v1/sample_receiver` answers it',
  exits: SERVER_EXITS,
  async run({ api: connect }) {
    const receiver = await (await connect()).get<{ url: string }>('/sample_receiver');
    return { json: receiver, text: receiver.url };
  },
};

const MAX_REQUESTS = 100;
const DEFAULT_REQUESTS = 20;

const requests: CommandSpec = {
  path: 'receiver requests',
  summary: 'What the built-in receiver got, and whether its signatures are good',
  options: [
    {
      name: 'count',
      short: 'n',
      value: 'number',
      summary: `How many, up to ${MAX_REQUESTS}. Default: ${DEFAULT_REQUESTS}.`,
    },
  ],
  examples: [{ does: 'The newest body', command: "hw receiver requests -n 1 --json | jq -r '.[0].body'" }],
  json: 'an array of requests, newest first',
  exits: SERVER_EXITS,
  async run({ api: connect, input, output }) {
    const limit = input.count('count', { min: 1, max: MAX_REQUESTS }) ?? DEFAULT_REQUESTS;
    const rows = await (await connect()).page<SampleRequest>('/sample_receiver/requests', { limit });
    if (rows.length === 0) output.note('Nothing yet. Make a webhook with its URL: hw receiver url');
    return { json: rows, text: rows.length === 0 ? '' : output.table(rows, columns) };
  },
};

const clear: CommandSpec = {
  path: 'receiver clear',
  summary: 'Forget what the built-in receiver got',
  examples: [{ does: 'All of it', command: 'hw receiver clear' }],
  json: '{ cleared }',
  exits: SERVER_EXITS,
  async run({ api: connect }) {
    await (await connect()).send('DELETE', '/sample_receiver/requests');
    return { json: { cleared: true }, text: 'Forgotten.', quiet: '' };
  },
};

export const receiverCommands: readonly CommandSpec[] = [describe, requests, clear];
