import type { Execution, Workflow } from '../api/resources.ts';
import { type CommandSpec, COMPONENT_EXITS, NAMING_EXITS, SERVER_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { momentOf } from '../moment-option.ts';
import { executionCommands } from './execution-actions.ts';
import { findNamed } from '../names/find-named.ts';
import { readWorkflowFile } from '../workflows/read-workflow.ts';
import { IF_MATCH, ifMatchHeader } from './if-match.ts';
import { deleteNamed, YES } from './delete.ts';
import { describeNamed, triggerLine } from './describe.ts';
import { listWorkflows, NAMED } from './list.ts';
import { EVENT, readEvent, runNamed } from './run.ts';
import { test } from './test-workflow.ts';

const NAME = { name: 'name', summary: 'A workflow, by id or name.', completes: { names: ['workflows'] } } as const;
const FILE = { name: 'file', summary: 'JSON: name, triggers, steps, settings.', completes: 'files' } as const;
const FILE_DETAILS =
  'The file holds the body of `POST /v1/workflows`. A step, or a source to deploy as a trigger, may have `component_file` instead of a key: a file beside the JSON file, whose code is sent.';

const create: CommandSpec = {
  path: 'workflows create',
  aliases: ['add'],
  summary: 'Make a workflow from a JSON file',
  details: FILE_DETAILS,
  arguments: [FILE],
  examples: [{ does: 'From a file', command: 'hw workflows create orders.json' }],
  json: 'the workflow, as `POST /v1/workflows` answers it',
  exits: COMPONENT_EXITS,
  async run(context) {
    const body = await readWorkflowFile(context.input.argument('file'), context.workDir);
    const api = await context.api();
    const made = await context.output.progress('Making the workflow', () =>
      api.send<Workflow>('POST', '/workflows', body),
    );
    return { json: made, text: `Made ${summary(made)}`, quiet: made.id };
  },
};

const update: CommandSpec = {
  path: 'workflows update',
  summary: 'Deploy another version of a workflow from a JSON file',
  details: `${FILE_DETAILS} What the file does not name stays as it is. Executions that run go on with the version they began with.`,
  arguments: [NAME, FILE],
  options: [IF_MATCH],
  examples: [{ does: 'From a file', command: 'hw workflows update orders orders.json' }],
  json: 'the workflow, as `PUT /v1/workflows/{id}` answers it',
  exits: COMPONENT_EXITS,
  async run(context) {
    const body = await readWorkflowFile(context.input.argument('file'), context.workDir);
    const api = await context.api();
    const { id } = await findNamed(api, ['workflow'], context.input.argument('name'));
    const made = await context.output.progress('Updating the workflow', () =>
      api.send<Workflow>('PUT', `/workflows/${id}`, body, ifMatchHeader(context)),
    );
    return { json: made, text: `Updated ${summary(made)}`, quiet: made.id };
  },
};

function summary(workflow: Workflow): string {
  const version = workflow.version === undefined ? '' : `, version ${workflow.version}`;
  const triggers = workflow.triggers.map((trigger) => `\n  ${triggerLine(trigger)}`);
  return `${workflow.name_slug ?? workflow.name} (${workflow.id}${version})${triggers.join('')}`;
}

const list: CommandSpec = {
  path: 'workflows list',
  aliases: ['ls'],
  summary: 'The workflows of the account',
  options: [NAMED],
  examples: [{ does: 'All of them', command: 'hw workflows list' }],
  json: 'an array of workflows',
  exits: SERVER_EXITS,
  run: listWorkflows,
};

const describe: CommandSpec = {
  path: 'workflows describe',
  aliases: ['show'],
  summary: 'A workflow: its triggers, steps and settings',
  arguments: [NAME],
  examples: [{ does: 'By name', command: 'hw workflows describe orders' }],
  json: 'the workflow',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const api = await connect();
    return describeNamed(api, output, await findNamed(api, ['workflow'], input.argument('name')));
  },
};

const run: CommandSpec = {
  path: 'workflows run',
  summary: 'Run a workflow now',
  arguments: [NAME],
  options: [EVENT],
  examples: [{ does: 'With an event', command: 'hw workflows run orders --event order.json' }],
  json: '{ execution_id }',
  exits: NAMING_EXITS,
  run: (context) => runNamed(context, ['workflow']),
};

const MAX_PAGE = 100;
const DEFAULT_PAGE = 10;

const executions: CommandSpec = {
  path: 'workflows executions',
  summary: 'The executions of a workflow, newest first',
  details: '`hw describe <execution>` shows the steps of one.',
  arguments: [NAME],
  options: [
    { name: 'count', short: 'n', value: 'number', summary: `How many, up to ${MAX_PAGE}. Default: ${DEFAULT_PAGE}.` },
    {
      name: 'status',
      value: 'status',
      summary: 'Only those.',
      choices: ['queued', 'running', 'waiting', 'succeeded', 'failed', 'exited', 'cancelled'],
    },
    { name: 'since', value: 'time', summary: 'Only those that were queued then or later: `2026-11-20T14:00Z`.' },
    { name: 'until', value: 'time', summary: 'Only those that were queued before.' },
  ],
  examples: [{ does: 'The last ones that failed', command: 'hw workflows executions orders --status failed' }],
  json: 'an array of executions, without their steps',
  exits: NAMING_EXITS,
  run: listExecutions,
};

async function listExecutions({ api: connect, input, output }: CommandContext) {
  const limit = input.count('count', { min: 1, max: MAX_PAGE }) ?? DEFAULT_PAGE;
  const api = await connect();
  const { id } = await findNamed(api, ['workflow'], input.argument('name'));
  const rows = await api.page<Execution>(`/workflows/${id}/executions`, {
    limit,
    status: input.text('status'),
    since_ms: momentOf(input, 'since'),
    until_ms: momentOf(input, 'until'),
  });
  if (rows.length === 0) output.note('None yet.');
  const text = output.table(rows, [
    { title: 'ID', whole: true, value: (row) => row.id },
    { title: 'STATUS', value: (row) => row.status },
    { title: 'STARTED', value: (row) => timeText(row.started_at) },
    { title: 'ENDED', value: (row) => timeText(row.ended_at) },
    { title: 'ERROR', value: (row) => row.error?.message ?? '' },
  ]);
  return { json: rows, text: rows.length === 0 ? '' : text };
}

function timeText(value: number | string | null | undefined): string {
  return value === null || value === undefined ? '' : new Date(value).toISOString();
}

const retry: CommandSpec = {
  path: 'workflows retry',
  summary: 'Run failed executions of a workflow again',
  details:
    'Each goes on with the step that failed, as an execution of its own. One that was run again is passed over. Deploy a new version first where the code is to blame, and add --newest.',
  arguments: [NAME],
  options: [
    { name: 'since', value: 'time', summary: 'Only those that ended at this time or later: `2026-11-20T14:00Z`.' },
    { name: 'until', value: 'time', summary: 'Only those that ended before this time.' },
    { name: 'code', value: 'code', summary: 'Only those that failed with this error, such as `RUN_ABANDONED`.' },
    { name: 'from-start', summary: 'From the first step.' },
    { name: 'newest', summary: 'With the newest version of the workflow. Default: the one that they ran with.' },
  ],
  examples: [
    { does: 'All that have failed', command: 'hw workflows retry orders' },
    { does: 'Those that were given up', command: 'hw workflows retry orders --code RUN_ABANDONED' },
  ],
  json: '{ count }: the executions that are queued again',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const { id } = await findNamed(api, ['workflow'], input.argument('name'));
    const answer = await api.send<{ count: number }>('POST', `/workflows/${id}/executions/retry`, {
      since_ms: momentOf(input, 'since'),
      until_ms: momentOf(input, 'until'),
      code: input.text('code'),
      ...(input.flag('from-start') ? { from: 'start' } : {}),
      ...(input.flag('newest') ? { deployment: 'newest' } : {}),
    });
    const what = answer.count === 1 ? '1 execution is' : `${answer.count} executions are`;
    return { json: answer, text: `${what} queued again.`, quiet: '' };
  },
};

const EXECUTION = { name: 'execution', summary: 'Its id (`exec_…`).' };

const resume: CommandSpec = {
  path: 'workflows resume',
  summary: 'Go on with an execution that waits, before its time',
  details: 'As a request to its `resume_url` does.',
  arguments: [EXECUTION],
  options: [
    {
      name: 'data',
      value: 'file',
      summary: 'JSON that the steps behind find as `$resume_data`; `-` reads it from standard input.',
      completes: 'files',
    },
  ],
  examples: [{ does: 'An approval', command: `echo '{"approved":true}' | hw workflows resume exec_1vZ8kQ0a --data -` }],
  json: '{ id, resumed }',
  exits: NAMING_EXITS,
  async run(context) {
    const id = context.input.argument('execution');
    const data = await readEvent(context, 'data');
    const api = await context.api();
    await api.send('POST', `/executions/${id}/resume`, data === undefined ? {} : { data });
    return { json: { id, resumed: true }, text: `${id} goes on.`, quiet: id };
  },
};

const replay: CommandSpec = {
  path: 'workflows replay',
  summary: 'Run an execution again that has ended',
  details: 'As an execution of its own, with the same event. `hw workflows retry` does so with many.',
  arguments: [EXECUTION],
  options: [
    { name: 'from-failed', summary: 'From the step that failed; what the steps before it came to is taken over.' },
    { name: 'newest', summary: 'With the newest version of the workflow. Default: the one that it ran with.' },
  ],
  examples: [{ does: 'After a repair', command: 'hw workflows replay exec_1vZ8kQ0a --from-failed --newest' }],
  json: '{ execution_id }: the new one',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const answer = await api.send<{ execution_id: string }>(
      'POST',
      `/executions/${input.argument('execution')}/replay`,
      {
        ...(input.flag('from-failed') ? { from: 'failed' } : {}),
        ...(input.flag('newest') ? { deployment: 'newest' } : {}),
      },
    );
    return { json: answer, text: `${answer.execution_id} runs.`, quiet: answer.execution_id };
  },
};

const remove: CommandSpec = {
  path: 'workflows delete',
  aliases: ['rm'],
  summary: 'Delete a workflow',
  arguments: [NAME],
  options: [YES, IF_MATCH],
  examples: [{ does: 'Without a question', command: 'hw workflows delete orders -y' }],
  json: '{ id, deleted }',
  exits: NAMING_EXITS,
  run: (context) => deleteNamed(context, ['workflow']),
};

export const workflowCommands: readonly CommandSpec[] = [
  create,
  update,
  list,
  describe,
  run,
  test,
  executions,
  retry,
  resume,
  ...executionCommands,
  replay,
  remove,
];
