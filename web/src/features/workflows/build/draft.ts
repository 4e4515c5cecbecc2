import type { paths } from '@headwater/client';
import type { Schemas } from '../../../api/client.ts';
import type { PropDefinition, PropValues } from '../../props/prop-definition.ts';
import type { Workflow } from '../workflow-queries.ts';

type WorkflowBody = NonNullable<paths['/v1/workflows']['post']['requestBody']>['content']['application/json'];
export type StepInput = NonNullable<WorkflowBody['steps']>[number];
export type TriggerInput = NonNullable<WorkflowBody['triggers']>[number];

export interface DraftTrigger {
  /** Absent until it is saved. */
  id?: string;
  type: 'http' | 'timer' | 'source';
  endpointUrl?: string;
  customResponse: boolean;
  intervalSeconds?: number;
  cron?: string;
  timezone?: string;
  sourceId?: string;
  eventName?: string;
}

export interface DraftStep {
  /** Id within this draft; it stays when the name changes. */
  key: string;
  /** Absent until it is saved. */
  id?: string;
  namespace: string;
  /** Absent of code that is not saved yet. */
  componentId?: string;
  /** Text that names its component for users. */
  label: string;
  /** Code that was written here since. */
  code?: string;
  definitions: readonly PropDefinition[];
  values: PropValues;
  /** Saved values: an update sends only the difference. */
  saved: PropValues;
  dynamicPropsId?: string;
  onError: 'fail' | 'continue';
  retries: number | null;
}

/** A workflow as it is being edited. */
export interface Draft {
  /** Absent until the user names a new workflow. */
  name?: string;
  triggers: readonly DraftTrigger[];
  steps: readonly DraftStep[];
}

export const EMPTY_DRAFT: Draft = { triggers: [{ type: 'http', customResponse: false }], steps: [] };

let made = 0;

/** The key of a new step. */
export function newStepKey(): string {
  made += 1;
  return `new ${made}`;
}

const NEW_STEP = { values: {}, saved: {}, onError: 'fail', retries: null } as const;

/** A new step of an action. */
export function stepOfComponent(
  {
    id,
    key,
    name,
    configurable_props: props,
  }: Pick<Schemas['Component'], 'id' | 'key' | 'name' | 'configurable_props'>,
  taken: readonly string[],
): DraftStep {
  return {
    ...NEW_STEP,
    key: newStepKey(),
    namespace: newNamespace(key ?? name, taken),
    componentId: id,
    label: name,
    definitions: props as unknown as PropDefinition[],
  };
}

/** A new step of code that is written here. */
export function stepOfCode(code: string, taken: readonly string[]): DraftStep {
  const namespace = newNamespace('code', taken);
  return { ...NEW_STEP, key: newStepKey(), namespace, label: 'Code', code, definitions: [] };
}

export function draftOf({ name, triggers, steps }: Workflow): Draft {
  return {
    name,
    triggers: triggers.map((trigger) => ({
      id: trigger.id,
      type: trigger.type,
      customResponse: trigger.custom_response ?? false,
      ...withoutUndefined({
        endpointUrl: trigger.endpoint_url ?? undefined,
        intervalSeconds: trigger.interval_seconds,
        cron: trigger.cron,
        timezone: trigger.timezone,
        sourceId: trigger.source_id,
        eventName: trigger.event_name,
      }),
    })),
    steps: steps.map((step) => ({
      key: step.id,
      id: step.id,
      namespace: step.namespace,
      componentId: step.component_id,
      label: step.component_id,
      definitions: step.configurable_props as unknown as PropDefinition[],
      values: step.props,
      saved: step.props,
      onError: step.on_error,
      retries: step.retries,
    })),
  };
}

export function triggerInput(trigger: DraftTrigger): TriggerInput {
  const { id, type, customResponse, intervalSeconds, cron, timezone, sourceId, eventName } = trigger;
  switch (type) {
    case 'http':
      return { type, custom_response: customResponse, ...withoutUndefined({ id }) };
    case 'timer':
      return {
        type,
        ...withoutUndefined({
          id,
          interval_seconds: cron === undefined ? (intervalSeconds ?? 60) : undefined,
          cron,
          timezone,
        }),
      };
    case 'source':
      return { type, source_id: sourceId ?? '', ...withoutUndefined({ event_name: eventName }) };
  }
}

export function stepInput(step: DraftStep): StepInput {
  const { id, namespace, componentId, code, values, dynamicPropsId, onError, retries } = step;
  return {
    namespace,
    on_error: onError,
    retries,
    props: id === undefined ? withoutNothing(values) : wholeProps(step),
    ...withoutUndefined({ id, dynamic_props_id: dynamicPropsId }),
    // Code written here wins over the component. A saved step keeps its component if none is named.
    ...(code === undefined
      ? id === undefined
        ? withoutUndefined({ component_id: componentId })
        : {}
      : { component_code: code }),
  };
}

function withoutNothing(values: PropValues): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/**
 * Whether the form shows the prop's whole value. Secrets cannot be read, and interfaces, alerts and
 * directories have no value here.
 */
const isGivenWhole = ({ type, secret }: PropDefinition) =>
  secret !== true && !type.startsWith('$.') && type !== 'alert' && type !== 'dir';

/**
 * All props of a saved step, with null for props without a value. An update changes the latest
 * saved version, which may differ from the shown one. A secret is kept unless the user enters one.
 */
function wholeProps({ definitions, values, saved }: DraftStep): Record<string, unknown> {
  const names = new Set([
    ...definitions.filter(isGivenWhole).map(({ name }) => name),
    ...Object.keys(saved),
    ...Object.keys(values),
  ]);
  return Object.fromEntries([...names].map((name) => [name, values[name] ?? null]));
}

export function withoutUndefined<T extends Record<string, unknown>>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return withoutNothing(fields) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

const NAMESPACE = /^[A-Za-z_$][\w$]{0,63}$/;

/** The reason why a step cannot have this name; undefined if it can. */
export function namespaceFault(name: string, others: readonly string[]): string | undefined {
  if (!NAMESPACE.test(name)) return 'Letters, digits and _, no digit first: expressions read steps.<name>.';
  if (name === 'trigger') return 'The event is called so.';
  return others.includes(name) ? 'Another step has this name.' : undefined;
}

/** A name for a new step, derived from its component's name. */
export function newNamespace(wanted: string, taken: readonly string[]): string {
  const words = wanted.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
  const base = words.replaceAll(/^[_\d]+|_+$/g, '').slice(0, 40) || 'step';
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}_${count}`;
    if (namespaceFault(name, taken) === undefined) return name;
  }
}

/** The step under another name, and expressions of all steps with it. */
export function renameStep(draft: Draft, from: string, to: string): Draft {
  const path = new RegExp(`(\\bsteps\\.)${from.replaceAll('$', String.raw`\$`)}(?![\\w$])`, 'g');
  const inText = (text: string) =>
    text.includes('{{') ? text.replaceAll(path, (_, steps: string) => `${steps}${to}`) : text;
  const inValue = (value: unknown): unknown => {
    if (typeof value === 'string') return inText(value);
    if (Array.isArray(value)) return value.map(inValue);
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inValue(inner)]));
  };
  const steps = draft.steps.map((step) => ({
    ...step,
    namespace: step.namespace === from ? to : step.namespace,
    values: inValue(step.values) as PropValues,
  }));
  return { ...draft, steps };
}
