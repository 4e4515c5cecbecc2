import type { Source } from '../api/resources.ts';
import { usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS, type OptionSpec } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { findNamed } from '../names/find-named.ts';
import { momentOf } from '../moment-option.ts';
import { localTime } from '../terminal/describe-time.ts';

interface AbandonedRun {
  id: string;
  source_id: string;
  kind: string;
  error: { code: string; message: string };
  abandoned_at_ms: number;
}

interface Run {
  id: string;
  kind: string;
  status: 'ok' | 'error';
  error: { code: string } | null;
  emitted: number | null;
  deduped: number | null;
  started_at_ms: number;
}

const SINCE: OptionSpec = {
  name: 'since',
  value: 'time',
  summary: 'Only those that were abandoned at this time or later: `2026-11-20`, `2026-11-20T14:00Z`.',
};
const UNTIL: OptionSpec = { name: 'until', value: 'time', summary: 'Only those that were abandoned before this time.' };
const SOURCE: OptionSpec = {
  name: 'source',
  value: 'name',
  summary: 'Only those of this source.',
  completes: { names: ['sources'] },
};

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;

const COUNT: OptionSpec = {
  name: 'count',
  short: 'n',
  value: 'number',
  summary: `How many, up to ${MAX_PAGE}. Default: ${DEFAULT_PAGE}.`,
};

const list: CommandSpec = {
  path: 'runs list',
  aliases: ['ls'],
  summary: 'Runs of sources that were given up, newest first',
  details:
    'The sandbox process of each ended again and again while the run was alone in it. Each is kept with its event until it is retried.',
  options: [SOURCE, SINCE, UNTIL, COUNT],
  examples: [
    { does: 'The newest ones', command: 'hw runs list' },
    { does: 'Of one source, with their events', command: `hw runs list --source orders --json | jq '.[].event'` },
  ],
  json: 'an array of abandoned runs with their events, newest first',
  exits: NAMING_EXITS,
  async run(context) {
    const limit = context.input.count('count', { min: 1, max: MAX_PAGE }) ?? DEFAULT_PAGE;
    const choice = await readChoice(context);
    const api = await context.api();
    const rows = await api.page<AbandonedRun>('/runs', { ...choice, status: 'abandoned', limit });
    if (rows.length === 0) context.output.note('None: every run has ended, or is under way.');
    const text = context.output.table(rows, [
      { title: 'ID', whole: true, value: (row) => row.id },
      { title: 'SOURCE', whole: true, value: (row) => row.source_id },
      { title: 'KIND', value: (row) => row.kind },
      { title: 'ABANDONED', value: (row) => localTime(row.abandoned_at_ms) },
    ]);
    return { json: rows, text: rows.length === 0 ? '' : text };
  },
};

const recent: CommandSpec = {
  path: 'runs recent',
  summary: 'Runs of a source that no event leads to, newest first',
  details:
    'Those that emitted nothing, or only what dedupe dropped, and those that logged or failed. The others are found by their events: hw events. Each run is explained by hw trace.',
  arguments: [{ name: 'source', summary: 'Its name or id.', completes: { names: ['sources'] } }],
  options: [COUNT, { name: 'loud', summary: 'Only those that logged or failed.' }],
  examples: [
    { does: 'What came of the newest requests', command: 'hw runs recent orders' },
    { does: 'Those that dedupe dropped', command: "hw runs recent orders --json | jq '.[] | select(.deduped > 0).id'" },
  ],
  json: 'an array of runs with their lines, newest first',
  exits: NAMING_EXITS,
  async run(context) {
    const { input, output } = context;
    const limit = input.count('count', { min: 1, max: MAX_PAGE }) ?? DEFAULT_PAGE;
    const api = await context.api();
    const { id } = await findNamed(api, ['source'], input.argument('source'));
    const quiet = input.flag('loud') ? {} : { include_quiet: true };
    const rows = await api.page<Run>(`/sources/${encodeURIComponent(id)}/runs`, { ...quiet, limit });
    if (rows.length === 0) output.note('None: each run that is kept has emitted, or none was made.');
    const text = output.table(rows, [
      { title: 'ID', whole: true, value: (row) => row.id },
      { title: 'KIND', value: (row) => row.kind },
      { title: 'STATUS', value: (row) => row.error?.code ?? row.status },
      { title: 'EMITTED', value: (row) => countOf(row.emitted) },
      { title: 'DEDUPED', value: (row) => countOf(row.deduped) },
      { title: 'STARTED', value: (row) => localTime(row.started_at_ms) },
    ]);
    return { json: rows, text: rows.length === 0 ? '' : text };
  },
};

/** Runs of older versions were not counted. */
const countOf = (count: number | null) => (count === null ? '' : String(count));

const retry: CommandSpec = {
  path: 'runs retry',
  summary: 'Run again what was given up',
  details:
    'With the same id, event and trace, and the code that the source has now: update the source first where its code ended the process. A run that is under way again already is not started twice.',
  arguments: [{ name: 'run', summary: 'Only this one (`inv_…`). Else --all or --source.', optional: true }],
  options: [{ name: 'all', summary: 'All of the account.' }, SOURCE, SINCE, UNTIL],
  examples: [
    { does: 'One of them', command: 'hw runs retry inv_1vZ8kQ0aB3xYpL9mWc2T' },
    { does: 'All of a source', command: 'hw runs retry --source orders' },
    { does: 'All of a day', command: 'hw runs retry --all --since 2026-11-20 --until 2026-11-21' },
  ],
  json: '{ count }: the runs that are queued again',
  exits: NAMING_EXITS,
  async run(context) {
    const { input } = context;
    const run = input.optionalArgument('run');
    const isBulk = input.flag('all') || input.text('source') !== undefined;
    if ((run === undefined) !== isBulk)
      throw usageError('Name one run, or choose them with --all or --source', 'See them: hw runs list');
    const choice = await readChoice(context);
    if (run !== undefined && Object.keys(choice).length > 0)
      throw usageError('--since and --until go with --all or --source');
    const api = await context.api();
    const path = run === undefined ? '/runs/retry' : `/runs/${encodeURIComponent(run)}/retry`;
    const answer = await api.send<{ count: number }>('POST', path, choice);
    const what = answer.count === 1 ? '1 run is' : `${answer.count} runs are`;
    return { json: answer, text: `${what} queued again.`, quiet: '' };
  },
};

async function readChoice({ api: connect, input }: CommandContext) {
  const [since, until, name] = [momentOf(input, 'since'), momentOf(input, 'until'), input.text('source')];
  const source = name === undefined ? undefined : await findNamed(await connect(), ['source'], name);
  const sourceId: Source['id'] | undefined = source?.id;
  return {
    ...(sourceId === undefined ? {} : { source_id: sourceId }),
    ...(since === undefined ? {} : { since_ms: since }),
    ...(until === undefined ? {} : { until_ms: until }),
  };
}

export const runCommands: readonly CommandSpec[] = [list, recent, retry];
