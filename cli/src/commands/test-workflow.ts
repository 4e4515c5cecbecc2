import { usageError } from '../cli-error.ts';
import { type CommandSpec, COMPONENT_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { repeatOnSave } from '../dev/repeat-on-save.ts';
import { findNamed } from '../names/find-named.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { readWorkflowFile } from '../workflows/read-workflow.ts';
import { EVENT, readEvent } from './run.ts';

interface TestedStep {
  namespace: string;
  status: string;
  props?: Record<string, unknown>;
  $return_value?: unknown;
  exports: Record<string, unknown>;
  logs: { message: string }[];
  error: { code: string; message: string } | null;
  flow: { kind: string; ms?: number; reason?: string } | null;
  sends: { kind: string; payload: unknown }[];
  started_at: number;
  ended_at: number;
}

interface WorkflowTest {
  status: string;
  steps: TestedStep[];
}

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
  async run(context) {
    const { input, output, signal } = context;
    if (input.flag('watch')) {
      if (input.text('file') === undefined) throw usageError('--watch needs steps of a file', 'Name it with --file');
      return repeatOnSave({
        signal,
        async work(onFile) {
          const answer = await testOnce(context, onFile);
          output.record({ tested: answer }, `${textOf(answer)}\n`);
        },
        onError(error) {
          const { code, message, fields } = error;
          if (output.json) return output.record({ broken: { code, message, fields } }, '');
          output.error(error);
          output.note('Waiting for a save');
        },
      });
    }
    const answer = await testOnce(context);
    return { json: answer, text: textOf(answer) };
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

function textOf({ steps, status }: WorkflowTest): string {
  return [...steps.flatMap(linesOf), status].join('\n');
}

function linesOf(step: TestedStep): string[] {
  const { namespace, status, props = {}, exports, logs, error, flow, sends } = step;
  const value = '$return_value' in step ? [['$return_value', step.$return_value] as const] : [];
  return [
    `${safeLine(namespace)}  ${status}  ${step.ended_at - step.started_at} ms`,
    ...Object.entries(props).map(([name, given]) => `  got ${name} = ${JSON.stringify(given)}`),
    ...logs.map(({ message }) => `  log ${safeLine(message)}`),
    ...[...value, ...Object.entries(exports)].map(([name, given]) => `  ${name} = ${JSON.stringify(given)}`),
    ...sends.map(({ kind, payload }) => `  would send by ${kind}: ${JSON.stringify(payload)}`),
    ...(flow === null ? [] : [`  asked for ${flow.kind}${flow.ms === undefined ? '' : ` of ${flow.ms} ms`}`]),
    ...(error === null ? [] : [`  ${error.code}: ${safeLine(error.message)}`]),
  ];
}
