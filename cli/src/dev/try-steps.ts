import type { ApiClient } from '../api/client.ts';
import type { Component, Workflow } from '../api/resources.ts';
import { nameLocally } from '../bundle/name-locally.ts';
import { type CliError, usageError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';
import { askForProps } from '../props/ask-for-props.ts';
import { readProps, typesOf } from '../props/read-props.ts';
import { readWorkflowFile } from '../workflows/read-workflow.ts';
import { testText, type WorkflowTest } from '../workflows/tested-steps.ts';
import type { HeldOutput } from './held-output.ts';
import { type RecordedEvent, recordedEvent } from './recorded-event.ts';
import { repeatOnSave } from './repeat-on-save.ts';

/** Namespace of an action that is no step of a workflow. */
const ALONE = 'action';

export interface ActionTrials {
  /** Runs the action once, and shows what it came to. */
  run(component: Component): Promise<void>;
}

/** Runs an action against a recorded event, alone or as a step of a past execution. */
export function createActionTrials(
  context: CommandContext,
  api: ApiClient,
  held: HeldOutput,
  word: string,
): ActionTrials {
  const { input, output, workDir } = context;
  const event = recordedEvent(context, api);
  let answers: Record<string, unknown> = {};

  /** Props of the step stay as the workflow has them, but for those that are given. */
  async function asStep(component: Component, workflowId: string) {
    const { steps } = await api.get<Workflow>(`/workflows/${workflowId}`);
    const names = steps.map(({ namespace }) => namespace);
    const step = input.text('step') ?? (names.length === 1 ? names[0] : undefined);
    if (step === undefined || !names.includes(step))
      throw usageError(
        step === undefined ? `${word} may be one of several steps` : `The workflow has no step ${step}`,
        `Name the one that it is, with --step: ${names.join(', ')}`,
      );
    const props = await readProps(input, workDir, typesOf(component.configurable_props));
    const tried = { namespace: step, component_id: component.id, props };
    return { step, steps: names.map((namespace) => (namespace === step ? tried : { namespace })) };
  }

  async function alone(component: Component) {
    if (input.text('step') !== undefined)
      throw usageError('--step is a step of an execution', 'Name the execution: --event-id exec_…, or --newest');
    const asked = await held.during(() =>
      askForProps(context, api, {
        component,
        source: undefined,
        answers,
        given: (definitions) => readProps(input, workDir, typesOf(definitions)),
      }),
    );
    answers = asked.props;
    const more = asked.dynamicPropsId === undefined ? {} : { dynamic_props_id: asked.dynamicPropsId };
    return { steps: [{ namespace: ALONE, component_id: component.id, props: asked.props, ...more }] };
  }

  return {
    async run(component) {
      const recorded = await event();
      const { workflowId } = recorded;
      const what = workflowId === undefined ? await alone(component) : await asStep(component, workflowId);
      const tested = await output.progress(`Running ${word}`, () => sendTest(api, recorded, what));
      held.record({ tested }, nameLocally(`${testText(tested)}\n`, word));
    },
  };
}

function sendTest(api: ApiClient, { event, eventId, workflowId }: RecordedEvent, what: object): Promise<WorkflowTest> {
  const path = workflowId === undefined ? '/workflow_tests' : `/workflows/${workflowId}/test`;
  return api.send<WorkflowTest>('POST', path, { ...what, event, event_id: eventId });
}

/** Runs the steps of a workflow's file, and again whenever it, or code that it names, is saved. */
export function tryWorkflow(context: CommandContext, api: ApiClient, file: string): Promise<never> {
  const { input, output, workDir, signal } = context;
  const event = recordedEvent(context, api);
  return repeatOnSave({
    signal,
    async work(onFile) {
      const { steps } = await readWorkflowFile(file, workDir, onFile);
      const recorded = await event();
      const tested = await output.progress('Running the steps', () =>
        sendTest(api, recorded, { steps, step: input.text('step') }),
      );
      output.record({ tested }, `${testText(tested)}\n`);
    },
    onError: (error) => tellBroken(context, error),
  });
}

/** Work that a save may mend. */
export function tellBroken({ output }: CommandContext, error: CliError): void {
  const { code, message, fields } = error;
  if (output.json) return output.record({ broken: { code, message, fields } }, '');
  output.error(error);
  output.note('Waiting for a save');
}
