import { type CommandSpec, SERVER_EXITS } from '../command.ts';
import { momentOf } from '../moment-option.ts';
import { localTime } from '../terminal/describe-time.ts';
import type { Column } from '../terminal/table.ts';

const ADMIN_KEY = 'Takes the key of the operator (HEADWATER_ADMIN_KEY), no other.';

interface NodeOfInstance {
  id: string;
  role: string;
  started_at: number;
  seen_at: number;
}

const nodeColumns: readonly Column<NodeOfInstance>[] = [
  { title: 'ID', whole: true, value: (row) => row.id },
  { title: 'ROLE', value: (row) => row.role },
  { title: 'STARTED', value: (row) => localTime(row.started_at) },
  { title: 'SEEN', value: (row) => localTime(row.seen_at) },
];

const nodes: CommandSpec = {
  path: 'server nodes',
  summary: 'The nodes of an instance, the oldest first',
  details: ADMIN_KEY,
  examples: [{ does: 'Which are alive?', command: 'HEADWATER_API_KEY=$HEADWATER_ADMIN_KEY hw server nodes' }],
  json: 'an array of nodes, as `GET /v1/nodes` lists them',
  exits: SERVER_EXITS,
  async run({ api: connect, output }) {
    const rows = await (await connect()).all<NodeOfInstance>('/nodes');
    return { json: rows, text: output.table(rows, nodeColumns) };
  },
};

interface AccountActivity {
  id: string;
  name: string;
  totals: Record<'received' | 'runs_ok' | 'runs_failed' | 'delivered' | 'failed_attempts', number>;
  waiting_runs: number;
  waiting_deliveries: number;
}

const accountColumns: readonly Column<AccountActivity>[] = [
  { title: 'NAME', value: (row) => row.name },
  { title: 'ID', whole: true, value: (row) => row.id },
  { title: 'RECEIVED', value: (row) => `${row.totals.received}` },
  { title: 'OK', value: (row) => `${row.totals.runs_ok}` },
  { title: 'FAILED', value: (row) => `${row.totals.runs_failed}` },
  { title: 'DELIVERED', value: (row) => `${row.totals.delivered}` },
  { title: 'FAILED ATTEMPTS', value: (row) => `${row.totals.failed_attempts}` },
  { title: 'WAITING RUNS', value: (row) => `${row.waiting_runs}` },
  { title: 'WAITING DELIVERIES', value: (row) => `${row.waiting_deliveries}` },
];

const accounts: CommandSpec = {
  path: 'server accounts',
  summary: 'What each account did in a time, the most active first',
  details: `${ADMIN_KEY} Accounts that did nothing are left out.`,
  options: [
    { name: 'since', value: 'time', summary: 'Such as `2026-11-20T14:00Z`. Default: an hour before --until.' },
    { name: 'until', value: 'time', summary: 'Default: now.' },
    { name: 'limit', short: 'n', value: 'count', summary: 'How many at most, 1 to 100. Default: 10.' },
  ],
  examples: [
    { does: 'Who is busy?', command: 'HEADWATER_API_KEY=$HEADWATER_ADMIN_KEY hw server accounts' },
    { does: 'A day', command: 'hw server accounts --since 2026-11-20T00:00Z --until 2026-11-21T00:00Z' },
  ],
  json: 'the accounts with their counters, as `GET /v1/stats/accounts` answers them',
  exits: SERVER_EXITS,
  async run({ api: connect, input, output }) {
    const parameters = {
      since: momentOf(input, 'since'),
      until: momentOf(input, 'until'),
      limit: input.count('limit', { min: 1, max: 100 }),
    };
    const found = await (await connect()).get<{ accounts: AccountActivity[] }>('/stats/accounts', parameters);
    if (found.accounts.length === 0) output.note('Nothing happened in this time.');
    return { json: found, text: found.accounts.length === 0 ? '' : output.table(found.accounts, accountColumns) };
  },
};

export const operatorCommands: readonly CommandSpec[] = [nodes, accounts];
