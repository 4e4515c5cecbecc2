import type { Execution } from '../api/resources.ts';
import { CliError, usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import { momentOf } from '../moment-option.ts';
import { findNamed } from '../names/find-named.ts';
import { confirmDeletion, YES } from './delete.ts';

const EXECUTION = { name: 'execution', summary: 'Its id (`exec_…`).' };
const pathOf = (id: string) => `/executions/${encodeURIComponent(id)}`;

const OPEN = ['queued', 'running', 'waiting'] as const;
const PAGE = 100;

const cancel: CommandSpec = {
  path: 'workflows cancel',
  summary: 'End an execution, or all of a workflow that have not ended',
  details:
    'Of one that runs, the step under way is not stored and no other begins. What its steps have sent with `$.send` is not sent.',
  arguments: [{ ...EXECUTION, optional: true, summary: 'Its id (`exec_…`). Else --workflow.' }],
  options: [
    { name: 'workflow', value: 'name', summary: 'All of this workflow.', completes: { names: ['workflows'] } },
    { name: 'status', value: 'status', summary: 'With --workflow: only those. Default: all of them.', choices: OPEN },
    { name: 'since', value: 'time', summary: 'With --workflow: those that were queued then or later.' },
    { name: 'until', value: 'time', summary: 'With --workflow: those that were queued before.' },
    YES,
  ],
  examples: [
    { does: 'One', command: 'hw workflows cancel exec_1vZ8kQ0aB3xYpL9mWc2T' },
    { does: 'All that wait', command: 'hw workflows cancel --workflow orders --status waiting' },
  ],
  json: '{ id, cancelled } of one; { count } of a workflow: the executions that were ended',
  exits: NAMING_EXITS,
  async run(context) {
    const { input, api: connect } = context;
    const [id, word] = [input.optionalArgument('execution'), input.text('workflow')];
    if ((id === undefined) === (word === undefined))
      throw usageError('Name one execution, or a workflow with --workflow');
    const api = await connect();
    if (id !== undefined) {
      await api.send('POST', `${pathOf(id)}/cancel`);
      return { json: { id, cancelled: true }, text: `${id} is cancelled.`, quiet: id };
    }
    const workflow = await findNamed(api, ['workflow'], word ?? '');
    await confirmDeletion(context, `Cancel the executions of ${word} that have not ended?`);
    const query = { limit: PAGE, since_ms: momentOf(input, 'since'), until_ms: momentOf(input, 'until') };
    const chosen = input.text('status');
    let count = 0;
    for (const status of chosen === undefined ? OPEN : [chosen]) {
      let isMore = true;
      while (isMore) {
        const rows = await api.page<Execution>(`/workflows/${workflow.id}/executions`, { ...query, status });
        let ended = 0;
        for (const row of rows)
          ended += await api.send('POST', `${pathOf(row.id)}/cancel`).then(
            () => 1,
            (error: unknown) => (isOver(error) ? 0 : Promise.reject(error as Error)),
          );
        count += ended;
        // A page of executions that all ended by themselves would come again for ever.
        isMore = rows.length === PAGE && ended > 0;
      }
    }
    return { json: { count }, text: count === 1 ? '1 execution is cancelled.' : `${count} executions are cancelled.` };
  },
};

/** It has ended by itself since the list was read. */
function isOver(error: unknown): boolean {
  return error instanceof CliError && (error.code === 'CONFLICT' || error.exit === 'notFound');
}

interface Send {
  id: string;
  kind: string;
  status: string;
  attempt_count?: number;
}

const sends: CommandSpec = {
  path: 'workflows sends',
  summary: 'What an execution sent with `$.send`, newest first',
  arguments: [EXECUTION],
  examples: [{ does: 'With the attempts', command: 'hw workflows sends exec_1vZ8kQ0aB3xYpL9mWc2T --json' }],
  json: 'an array of sends with their attempts',
  exits: NAMING_EXITS,
  async run({ api, input, output }) {
    const rows = await (await api()).all<Send>(`${pathOf(input.argument('execution'))}/sends`);
    if (rows.length === 0) output.note('None.');
    const text = output.table(rows, [
      { title: 'ID', whole: true, value: (row) => row.id },
      { title: 'KIND', value: (row) => row.kind },
      { title: 'STATUS', value: (row) => row.status },
    ]);
    return { json: rows, text: rows.length === 0 ? '' : text };
  },
};

const retrySend: CommandSpec = {
  path: 'workflows retry-send',
  summary: 'Attempt a send that has failed anew',
  arguments: [{ name: 'send', summary: 'Its id (`snd_…`).' }],
  examples: [{ does: 'By id', command: 'hw workflows retry-send snd_1vZ8kQ0aB3xYpL9mWc2T' }],
  json: '{ id, queued }',
  exits: NAMING_EXITS,
  async run({ api, input }) {
    const id = input.argument('send');
    await (await api()).send('POST', `/sends/${encodeURIComponent(id)}/retry`);
    return { json: { id, queued: true }, text: `${id} is attempted anew.`, quiet: id };
  },
};

const NAME = { name: 'name', summary: 'A workflow, by id or name.', completes: { names: ['workflows'] } } as const;

interface Deployment {
  id: string;
  version: number;
  created_at: number;
  current?: boolean;
}

const versions: CommandSpec = {
  path: 'workflows versions',
  summary: 'The versions of a workflow, newest first',
  arguments: [NAME],
  examples: [{ does: 'All of them', command: 'hw workflows versions orders' }],
  json: 'an array of deployments',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const api = await connect();
    const { id } = await findNamed(api, ['workflow'], input.argument('name'));
    const rows = await api.all<Deployment>(`/workflows/${id}/deployments`);
    const text = output.table(rows, [
      { title: 'VERSION', value: (row) => `${row.version}` },
      { title: 'ID', whole: true, value: (row) => row.id },
    ]);
    return { json: rows, text };
  },
};

const deploy: CommandSpec = {
  path: 'workflows deploy',
  summary: 'Make a version of a workflow the current one, such as to go back',
  arguments: [NAME, { name: 'version', summary: 'Its number, or the id of the deployment (`d_…`).' }],
  examples: [{ does: 'Go back', command: 'hw workflows deploy orders 3' }],
  json: 'the workflow',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const api = await connect();
    const { id } = await findNamed(api, ['workflow'], input.argument('name'));
    const word = input.argument('version');
    const all = /^\d+$/.test(word) ? await api.all<Deployment>(`/workflows/${id}/deployments`) : [];
    const deploymentId = word.startsWith('d_') ? word : all.find(({ version }) => `${version}` === word)?.id;
    if (deploymentId === undefined)
      throw new CliError('notFound', `There is no version ${word}`, { hint: 'See: hw workflows versions <name>' });
    const made = await api.send<{ id: string }>('POST', `/workflows/${id}/deploy`, { deployment_id: deploymentId });
    return { json: made, text: `${id} runs version ${word}.`, quiet: id };
  },
};

export const executionCommands: readonly CommandSpec[] = [cancel, sends, retrySend, versions, deploy];
