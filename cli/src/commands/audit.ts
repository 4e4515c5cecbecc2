import { type CommandSpec, SERVER_EXITS } from '../command.ts';
import { momentOf } from '../moment-option.ts';
import { ofSeconds } from '../terminal/describe-time.ts';

interface AuditEntry {
  id: string;
  account_id: string | null;
  at: number;
  actor_name: string;
  address: string | null;
  action: string;
  thing: string;
  outcome: 'made' | 'unknown';
}

const MAX_PAGE = 100;

export const audit: CommandSpec = {
  path: 'audit',
  summary: 'Who changed what in the account, newest first',
  details:
    'With the key of the operator: in all accounts. `--all --json-lines` prints all that fits, one JSON object a line, for a file.',
  options: [
    { name: 'since', value: 'time', summary: 'Only changes of this time or later: `2026-11-20`, `2026-11-20T14:00Z`.' },
    { name: 'until', value: 'time', summary: 'Only changes before this time.' },
    { name: 'actor', value: 'key', summary: 'Only those of this key, by its id or name, or of `operator`.' },
    { name: 'action', value: 'operation', summary: 'Only this operation, such as `updateSource`.' },
    { name: 'thing', value: 'id', summary: 'Only those done to the thing with this id.' },
    { name: 'count', short: 'n', value: 'number', summary: `How many, up to ${MAX_PAGE}. Default: 20.` },
    { name: 'all', summary: 'All of them, page after page.' },
    { name: 'json-lines', summary: 'One JSON object a line.' },
  ],
  examples: [
    { does: 'What was done to a source?', command: 'hw audit --thing dc_1vZ8kQ0aB3xYpL9mWc2T' },
    { does: 'A month, into a file', command: 'hw audit --since 2026-11-01 --all --json-lines > audit.ndjson' },
  ],
  json: 'an array of entries, as `GET /v1/audit` lists them',
  exits: SERVER_EXITS,
  async run({ api: connect, input, output }) {
    const api = await connect();
    const query = {
      since: momentOf(input, 'since'),
      until: momentOf(input, 'until'),
      actor: input.text('actor'),
      action: input.text('action'),
      thing: input.text('thing'),
    };
    const limit = input.count('count', { min: 1, max: MAX_PAGE }) ?? 20;
    if (input.flag('all') && input.flag('json-lines')) {
      for await (const entry of api.lines<AuditEntry>('/audit', query, ({ id }) => id))
        output.record(entry, JSON.stringify(entry));
      return undefined;
    }
    const rows = input.flag('all')
      ? await api.all<AuditEntry>('/audit', query)
      : await api.page<AuditEntry>('/audit', { ...query, limit });
    if (input.flag('json-lines')) return { json: rows, text: rows.map((row) => JSON.stringify(row)).join('\n') };
    const text = output.table(rows, [
      { title: 'WHEN', value: (row) => ofSeconds(row.at) },
      { title: 'WHO', value: (row) => row.actor_name },
      { title: 'FROM', value: (row) => row.address ?? '' },
      { title: 'ACTION', value: (row) => (row.outcome === 'made' ? row.action : `${row.action} (outcome unknown)`) },
      { title: 'THING', whole: true, value: (row) => row.thing },
    ]);
    return { json: rows, text };
  },
};
