import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import { momentOf } from '../moment-option.ts';
import { findNamed } from '../names/find-named.ts';
import { localTime } from '../terminal/describe-time.ts';
import type { Column } from '../terminal/table.ts';

interface Counts {
  received: number;
  emitted: number;
  runs_ok: number;
  runs_failed: number;
  delivered: number;
  failed_attempts: number;
  exhausted: number;
}

const COUNTERS: readonly (keyof Counts)[] = [
  'received',
  'emitted',
  'runs_ok',
  'runs_failed',
  'delivered',
  'failed_attempts',
  'exhausted',
];

interface Series {
  totals: Counts;
  buckets: (Counts & { at: number })[];
}

type Row = Counts & { time: string };

const columns: readonly Column<Row>[] = [
  { title: 'TIME', whole: true, value: (row) => row.time },
  { title: 'RECEIVED', value: (row) => `${row.received}` },
  { title: 'OK', value: (row) => `${row.runs_ok}` },
  { title: 'FAILED', value: (row) => `${row.runs_failed}` },
  { title: 'EMITTED', value: (row) => `${row.emitted}` },
  { title: 'DELIVERED', value: (row) => `${row.delivered}` },
  { title: 'FAILED ATTEMPTS', value: (row) => `${row.failed_attempts}` },
  { title: 'EXHAUSTED', value: (row) => `${row.exhausted}` },
];

export const stats: CommandSpec = {
  path: 'stats',
  summary: 'What was received, run, emitted and delivered, by time',
  details: 'Of the account, or of one source, workflow or webhook. Times in which nothing happened are left out.',
  arguments: [
    {
      name: 'name',
      summary: 'A source, workflow or webhook. Default: the account.',
      optional: true,
      completes: { names: ['sources', 'workflows', 'webhooks'] },
    },
  ],
  options: [
    { name: 'since', value: 'time', summary: 'Such as `2026-11-20T14:00Z`. Default: an hour before --until.' },
    { name: 'until', value: 'time', summary: 'Default: now.' },
    { name: 'step', value: 'seconds', summary: 'Of a row: 60, 300, 3600, 86400. Default: what shows the range well.' },
  ],
  examples: [
    { does: 'The last hour', command: 'hw stats' },
    { does: 'A day of a webhook, by hour', command: 'hw stats shop --since 2026-11-20T00:00Z --step 3600' },
    { does: 'How many runs failed', command: "hw stats orders --json | jq '.totals.runs_failed'" },
  ],
  json: 'the counters, as `GET /v1/stats` answers them',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const parameters = {
      since: momentOf(input, 'since'),
      until: momentOf(input, 'until'),
      step: input.count('step', { min: 60, max: 86_400 }),
    };
    const api = await connect();
    const name = input.optionalArgument('name');
    const subject = name === undefined ? {} : subjectOf(await findNamed(api, ['source', 'workflow', 'webhook'], name));
    const found = await api.get<Series>('/stats', { ...parameters, ...subject });
    const active = found.buckets.filter((bucket) => COUNTERS.some((counter) => bucket[counter] > 0));
    if (active.length === 0) output.note('Nothing happened in this time.');
    const rows: Row[] = active.map((bucket) => ({ ...bucket, time: localTime(bucket.at) }));
    rows.push({ ...found.totals, time: 'in all' });
    return { json: found, text: output.table(rows, columns) };
  },
};

function subjectOf({ kind, id }: { kind: string; id: string }): Record<string, string> {
  return kind === 'webhook' ? { webhook_id: id } : { emitter_id: id };
}
