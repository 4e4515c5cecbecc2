import { usageError } from '../cli-error.ts';
import { type CommandSpec, COMPONENT_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { repeatOnSave } from '../dev/repeat-on-save.ts';
import { tellBroken } from '../dev/try-steps.ts';
import { findNamed } from '../names/find-named.ts';
import { readWorkflowFile } from '../workflows/read-workflow.ts';
import { testText, type WorkflowTest } from '../workflows/tested-steps.ts';
import { EVENT, rememberStdin, readEvent } from './run.ts';

export const test: CommandSpec = {
  path: 'workflows test',
  summary: 'Run steps of a workflow without an execution',
  details:
    'Requests of the steps are made, and what they write to data stores is written. Nothing else stays: nothing is emitted or sent, and waits are told, not waited.',
  arguments: [{ name: 'name', summary: 'A workflow, by id or name.', completes: { names: ['workflows'] } }],
  options: [
    EVENT,
    { name: 'event-id', value: 'id', summary: 'A past event: an execution (`exec_…`), or the `emit_id` of an event.' },
    { name: 'step', value: 'namespace', summary: 'Only this step, after those that the execution has completed.' },
    { name: 'up-to', value: 'namespace', summary: 'The steps to this one. Default: all.' },
    {
      name: 'file',
      value: 'file',
      summary: 'The steps of this JSON file instead of those that are saved, as of `hw workflows update`.',
      completes: 'files',
    },
    {
      name: 'watch',
      summary:
        'Run them again whenever that file, or code that it names, is saved. With --step and --event-id one step is worked on with what a past execution gave it.',
    },
  ],
  examples: [
    { does: 'All steps, with an event', command: 'hw workflows test orders --event order.json' },
    {
      does: 'One step, as in a past execution',
      command: 'hw workflows test orders --step charge --event-id exec_1vZ8kQ0a',
    },
    {
      does: 'Steps that are not deployed yet',
      command: 'hw workflows test orders --file orders.json --event order.json',
    },
    {
      does: 'Work on a step with what it got in a past execution',
      command: 'hw workflows test orders --file orders.json --step charge --event-id exec_1vZ8kQ0a --watch',
    },
  ],
  json: 'what `POST /v1/workflows/{id}/test` answers; with --watch one record a line, `{ tested }` or `{ broken }`',
  exits: [...COMPONENT_EXITS, 'interrupted'],
  async run(given) {
    const context = rememberStdin(given);
    const { input, output, signal } = context;
    if (input.flag('watch')) {
      if (input.text('file') === undefined) throw usageError('--watch needs steps of a file', 'Name it with --file');
      return repeatOnSave({
        signal,
        async work(onFile) {
          const answer = await testOnce(context, onFile);
          output.record({ tested: answer }, `${testText(answer)}\n`);
        },
        onError: (error) => tellBroken(context, error),
      });
    }
    const answer = await testOnce(context);
    return { json: answer, text: testText(answer) };
  },
};

async function testOnce(context: CommandContext, onFile?: (file: string) => void): Promise<WorkflowTest> {
  const { input } = context;
  const file = input.text('file');
  const steps = file === undefined ? undefined : (await readWorkflowFile(file, context.workDir, onFile))['steps'];
  const event = await readEvent(context);
  const api = await context.api();
  const { id } = await findNamed(api, ['workflow'], input.argument('name'));
  return context.output.progress('Running the steps', () =>
    api.send<WorkflowTest>('POST', `/workflows/${id}/test`, {
      event,
      event_id: input.text('event-id'),
      step: input.text('step'),
      up_to: input.text('up-to'),
      steps,
    }),
  );
}
