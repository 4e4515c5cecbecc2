import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import { momentOf } from '../moment-option.ts';
import { describeBytes } from '../terminal/describe-bytes.ts';
import type { Column } from '../terminal/table.ts';

interface Used {
  requests: number;
  runs: number;
  run_ms: number;
  cpu_ms: number;
  events: number;
  deliveries: number;
  attempts: number;
  bytes_in: number;
  bytes_out: number;
  storage_bytes: number;
}

interface UsageOfAccount {
  totals: Used;
  days: (Used & { day: string })[];
}

type Row = Used & { day: string };

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

const columns: readonly Column<Row>[] = [
  { title: 'DAY', whole: true, value: (row) => row.day },
  { title: 'REQUESTS', value: (row) => `${row.requests}` },
  { title: 'RUNS', value: (row) => `${row.runs}` },
  { title: 'RAN', value: (row) => seconds(row.run_ms) },
  { title: 'CPU', value: (row) => seconds(row.cpu_ms) },
  { title: 'EVENTS', value: (row) => `${row.events}` },
  { title: 'DELIVERIES', value: (row) => `${row.deliveries}` },
  { title: 'ATTEMPTS', value: (row) => `${row.attempts}` },
  { title: 'IN', value: (row) => describeBytes(row.bytes_in) },
  { title: 'OUT', value: (row) => describeBytes(row.bytes_out) },
  { title: 'STORED', value: (row) => describeBytes(row.storage_bytes) },
];

export const usage: CommandSpec = {
  path: 'usage',
  summary: 'What the account used, by day',
  details:
    'Requests, runs and their time, events, deliveries, bytes, and what is stored. Days on which nothing happened are left out. The operator names an account with --account.',
  options: [
    { name: 'since', value: 'time', summary: 'From the day of this time on. Default: 30 days.' },
    { name: 'until', value: 'time', summary: 'Until the day of this time. Default: today.' },
    { name: 'account', value: 'id', summary: 'Of this account (`o_…`). Takes the key of the operator.' },
  ],
  examples: [
    { does: 'The last 30 days', command: 'hw usage' },
    {
      does: 'A month of a customer, for a bill',
      command: 'hw usage --account o_1vZ8kQ0aB3xYpL9mWc2T --since 2026-11-01 --until 2026-11-30 --json',
    },
  ],
  json: 'the days and their totals, as `GET /v1/usage` answers them',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const account = input.text('account');
    const path = account === undefined ? '/usage' : `/accounts/${encodeURIComponent(account)}/usage`;
    const range = { since: momentOf(input, 'since'), until: momentOf(input, 'until') };
    const found = await (await connect()).get<UsageOfAccount>(path, range);
    const rows = found.days.filter((day) => Object.values(day).some((value) => typeof value === 'number' && value > 0));
    if (rows.length === 0) output.note('Nothing was used in this time.');
    return { json: found, text: output.table([...rows, { day: 'in all', ...found.totals }], columns) };
  },
};
