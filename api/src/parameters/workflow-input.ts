import { z } from '@hono/zod-openapi';
import type { SettingsInput, StepInputRecord, TriggerInput, WorkflowInput } from '@headwater/engine';
import { checkChoice, choiceOf, componentParameters, hasChoice } from './component-choice.ts';
import { given } from './given.ts';
import { idParameter, jsonObjectParameter, preflightParameter, textParameter } from './schemas.ts';

/** For the document; requests are judged by findUnknownNames, which tells more. */
const NOTHING_ELSE = { additionalProperties: false } as const;

const propsParameter = (what: string) => jsonObjectParameter().optional().openapi({ description: what });

const dynamicPropsParameter = idParameter(
  'Props that `POST /v1/components/{id}/props` has answered (`dyp_…`). Without it the component is asked where a prop with `reloadProps` is set.',
).optional();

const DEPLOYED_FIELDS = [
  ...Object.keys(componentParameters),
  'name',
  'props',
  'configured_props',
  'dynamic_props_id',
  'event_name',
];

const FIELDS_OF: Readonly<Record<TriggerInput['type'], readonly string[]>> = {
  http: ['custom_response', 'customResponse'],
  timer: ['interval_seconds', 'cron', 'timezone'],
  source: ['source_id', 'event_name'],
  deploy: DEPLOYED_FIELDS,
};

/** A field of another kind of trigger would be passed over in silence. */
function checkFields(input: TriggerFields, context: z.RefinementCtx): void {
  const type = typeOf(input);
  if (type === undefined) return;
  const known = new Set(['id', 'type', 'source_id', ...FIELDS_OF[type]]);
  const kind = type === 'deploy' ? 'a source that is deployed' : type;
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || known.has(name)) continue;
    context.addIssue({ code: 'custom', path: [name], message: `does not go with a trigger of ${kind}` });
  }
}

function checkProps(
  { props, configured_props: same }: { props?: unknown; configured_props?: unknown },
  context: z.RefinementCtx,
): void {
  if (props === undefined || same === undefined) return;
  context.addIssue({
    code: 'custom',
    path: ['configured_props'],
    message: 'is another name of props: give one of them',
  });
}

const triggerParameter = z
  .object({
    id: idParameter(
      'In an update: the trigger to keep, with its URL or the phase of its timer. Without it one of the same type is kept.',
    ).optional(),
    type: z
      .enum(['http', 'timer', 'source'])
      .optional()
      .openapi({ description: 'May be left out where the other fields tell.' }),
    custom_response: z.boolean().optional().openapi({
      description:
        'Of `http`: the workflow answers with `$.respond`. Default: as it was said before; else true where the code of a step calls it, or did; else false, and the answer is 200 once the request is stored.',
    }),
    customResponse: z.boolean().optional().openapi({ description: '`custom_response`, as components write it.' }),
    interval_seconds: z.number().optional().describe('A timer: the seconds between two runs.'),
    cron: z.string().optional().describe('A timer: a cron expression of five or six fields.'),
    timezone: z.string().optional().openapi({ description: 'Of `cron`. Default: UTC.' }),
    source_id: idParameter('A source (`dc_…`) or workflow (`p_…`) whose events start the workflow.').optional(),
    event_name: z.string().optional().openapi({ description: 'Its channel. Default: the default channel.' }),
    ...componentParameters,
    name: textParameter('maxNameChars', 1).optional().openapi({ description: 'Of a source that is deployed.' }),
    props: propsParameter('Of a source that is deployed.'),
    configured_props: propsParameter('The same as `props`.'),
    dynamic_props_id: dynamicPropsParameter,
  })
  .superRefine(checkFields)
  .superRefine(checkProps)
  .refine((input) => typeOf(input) !== undefined, { path: ['type'], message: 'must be http, timer or source' })
  .refine((input) => typeOf(input) !== 'source' || input.source_id !== undefined, {
    path: ['source_id'],
    message: 'is required, or a component to deploy a source of',
  })
  .refine((input) => input.source_id === undefined || !hasChoice(input), {
    path: ['source_id'],
    message: 'names a source that is there, and a component one to deploy: give one of them',
  })
  .superRefine(checkChoice)
  .openapi(NOTHING_ELSE);

const stepParameter = z
  .object({
    id: idParameter('In an update: the step to keep, under whatever namespace. Default: by its namespace.').optional(),
    namespace: z
      .string()
      .openapi({ description: 'Unique; what the step exports is `steps.<namespace>`.', example: 'fetch_user' }),
    ...componentParameters,
    props: propsParameter(
      'Values by prop name; `{{steps.trigger.event.body.id}}` is worked out when the step runs. In an update what is not named stays, secrets too, and null removes.',
    ),
    configured_props: propsParameter('The same as `props`.'),
    dynamic_props_id: dynamicPropsParameter,
    retries: z.number().nullish().openapi({
      description: 'How often it is tried again after a failure. Default: as often as the settings say.',
    }),
    on_error: z.enum(['fail', 'continue']).nullish().openapi({
      description:
        '`continue`: after its last failure the steps behind it run, and find `steps.<namespace>.$error`. Default: `fail`, which ends the execution.',
    }),
  })
  .superRefine(checkProps)
  .superRefine(checkChoice)
  .openapi(NOTHING_ELSE);

const settingsParameter = z
  .object({
    timeout_seconds: z.number().nullish().openapi({
      description: 'Of an execution, or of its part after a wait. Default: 30 where HTTP starts it, else 60.',
    }),
    memory_mb: z
      .number()
      .nullish()
      .openapi({ description: "Of each step. Default and most: the account's `memoryMb`." }),
    concurrency: z.number().nullish().openapi({
      description:
        'Executions at the same time; 1: one after the other, in the order of their events. Default: no bound.',
    }),
    throttle: z
      .object({
        limit: z.number().describe('Executions that may start in a window.'),
        interval_seconds: z.number().describe('The length of the window.'),
      })
      .openapi(NOTHING_ELSE)
      .nullish()
      .openapi({
        description: 'Executions that may start in a window; a limit of 0 pauses the workflow: events wait.',
      }),
    queue_limit: z.number().nullish().openapi({
      description: 'Executions that may wait; a request beyond that is answered with 429. Default: no bound.',
    }),
    retries: z.number().nullish().openapi({ description: 'How often a step that fails is tried again. Default: 0.' }),
    preflight: preflightParameter().nullish(),
    auto_deploy: z.boolean().nullish().openapi({
      description: 'false: an update saves a version that runs once it is deployed. Default: true.',
    }),
  })
  .openapi(NOTHING_ELSE);

/** As an update is given them. */
export const stepsParameter = z
  .array(stepParameter)
  .optional()
  .describe('Its steps, in their order. Absent: they stay.');

export const workflowParameters = {
  name: textParameter('maxNameChars', 1).optional().describe('The name of the workflow.'),
  triggers: z.array(triggerParameter).optional().describe('What starts it. Absent in an update: the triggers stay.'),
  steps: stepsParameter,
  settings: settingsParameter
    .optional()
    .describe('How its executions run. What is not named stays, null is the default.'),
};

type Trigger = z.output<typeof triggerParameter>;
type Step = z.output<typeof stepParameter>;
type Settings = z.output<typeof settingsParameter>;

export function workflowInputOf(input: z.output<z.ZodObject<typeof workflowParameters>>): WorkflowInput {
  const responds = input.steps?.some(({ component_code: code }) => code !== undefined && CALLS_RESPOND.test(code));
  return given({
    name: input.name,
    triggers: input.triggers?.map((trigger) => toTrigger(trigger, responds ?? false)),
    steps: stepsOf(input.steps),
    settings: input.settings && toSettings(input.settings),
  });
}

// The author of such a step wants the answer to reach the client. Only a guess: `custom_response`
// goes before it.
const CALLS_RESPOND = /\$\.respond\s*\(/;

type TriggerFields = Parameters<typeof hasChoice>[0] &
  Partial<Record<'type' | 'source_id' | 'interval_seconds' | 'cron', unknown>>;

function typeOf(input: TriggerFields): TriggerInput['type'] | undefined {
  if (hasChoice(input)) return 'deploy';
  if (input.type !== undefined) return input.type as TriggerInput['type'];
  if (input.source_id !== undefined) return 'source';
  return (input.interval_seconds ?? input.cron) === undefined ? undefined : 'timer';
}

function toTrigger(input: Trigger, responds: boolean): TriggerInput {
  const { id, source_id: sourceId = '', event_name: eventName } = input;
  switch (typeOf(input)) {
    case 'deploy': {
      const configuredProps = input.props ?? input.configured_props;
      const source = { name: input.name, configuredProps, dynamicPropsId: input.dynamic_props_id };
      return { type: 'deploy', ...given({ ...choiceOf(input), ...source, eventName }) };
    }
    case 'source':
      return { type: 'source', sourceId, ...given({ eventName }) };
    case 'timer': {
      const { interval_seconds: intervalSeconds, cron, timezone } = input;
      return { type: 'timer', ...given({ id }), schedule: given({ intervalSeconds, cron, timezone }) };
    }
    default: {
      const customResponse = input.custom_response ?? input.customResponse ?? (responds ? true : undefined);
      return { type: 'http', ...given({ id, customResponse }) };
    }
  }
}

export function stepsOf(inputs: readonly Step[] | undefined): StepInputRecord[] | undefined {
  return inputs?.map(toStep);
}

function toStep(input: Step): StepInputRecord {
  const { id, namespace, dynamic_props_id: dynamicPropsId } = input;
  const configuredProps = input.props ?? input.configured_props;
  const policy = { retries: input.retries, onError: input.on_error };
  return { namespace, ...given({ id, ...choiceOf(input), configuredProps, dynamicPropsId, ...policy }) };
}

function toSettings(input: Settings): SettingsInput {
  const { throttle } = input;
  return given({
    timeoutSeconds: input.timeout_seconds,
    memoryMb: input.memory_mb,
    concurrency: input.concurrency,
    throttle: throttle && { limit: throttle.limit, intervalSeconds: throttle.interval_seconds },
    queueLimit: input.queue_limit,
    retries: input.retries,
    autoDeploy: input.auto_deploy,
    preflight: input.preflight,
  });
}
