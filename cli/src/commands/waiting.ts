import { type CommandSpec, SERVER_EXITS } from '../command.ts';
import { localTime } from '../terminal/describe-time.ts';
import type { Column } from '../terminal/table.ts';

interface Oldest {
  name: string;
  /** Epoch milliseconds. */
  since: number;
}

interface Waiting {
  run: (Oldest & { emitter_id: string }) | null;
  delivery: (Oldest & { webhook_id: string }) | null;
}

interface Row {
  what: string;
  id: string;
  name: string;
  since: number;
}

const columns: readonly Column<Row>[] = [
  { title: 'WHAT', value: (row) => row.what },
  { title: 'NAME', value: (row) => row.name },
  { title: 'ID', whole: true, value: (row) => row.id },
  { title: 'SINCE', value: (row) => localTime(row.since) },
];

export const waiting: CommandSpec = {
  path: 'waiting',
  summary: 'The oldest run and the oldest due delivery that no node has begun',
  details: 'Sources, workflows and webhooks that are stopped are left out: what waits there waits for them.',
  examples: [{ does: 'Is anything behind?', command: 'hw waiting' }],
  json: '{ run, delivery }, as `GET /v1/stats/waiting` answers them; null where none waits',
  exits: SERVER_EXITS,
  async run({ api: connect, output }) {
    const found = await (await connect()).get<Waiting>('/stats/waiting');
    const { run, delivery } = found;
    const rows: Row[] = [
      ...(run === null ? [] : [{ ...run, what: 'run', id: run.emitter_id }]),
      ...(delivery === null ? [] : [{ ...delivery, what: 'delivery', id: delivery.webhook_id }]),
    ];
    if (rows.length === 0) output.note('Nothing waits.');
    return { json: found, text: rows.length === 0 ? '' : output.table(rows, columns) };
  },
};
