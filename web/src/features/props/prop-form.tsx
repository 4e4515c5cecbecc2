import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { ProblemNote } from '../../ui/problem.tsx';
import { AppField } from './app-field.tsx';
import { ChoiceField } from './choice-field.tsx';
import { DataStoreField } from './data-store-field.tsx';
import { ListField } from './list-field.tsx';
import {
  baseType,
  hasComputedOptions,
  isList,
  isShown,
  type PropDefinition,
  type PropValues,
  staticChoices,
} from './prop-definition.ts';
import { AlertNote, BooleanField, JsonField, NumberField, SecretField, StringField } from './simple-fields.tsx';
import { TimerField } from './timer-field.tsx';

export interface PropFormState {
  definitions: readonly PropDefinition[];
  values: PropValues;
  /** Props that the component computed for these values; goes with them when they are sent. */
  dynamicPropsId?: string;
}

export interface PropFormProps {
  componentId: string;
  /** Its configured values count where the form has none, secrets too. */
  sourceId?: string;
  state: PropFormState;
  onChange: (state: PropFormState) => void;
  /** The refusal of the last save: each message is shown beside its field. */
  error?: unknown;
  /** Puts something around each field. */
  around?: (props: PropFieldProps, field: React.ReactNode) => React.ReactNode;
}

/**
 * One field for each prop of a component, of any type. Dependent props are requested again when the
 * props they depend on change.
 */
export function PropForm({ componentId, sourceId, state, onChange, error, around }: PropFormProps) {
  const { definitions, values, dynamicPropsId } = state;
  const reloading = useMutation({
    mutationFn: async (next: PropValues) => {
      const isOpen = dynamicPropsId === undefined && sourceId === undefined;
      const body = {
        configured_props: isOpen ? withinProps(next, await readOwnProps(componentId)) : { ...next },
        ...(dynamicPropsId === undefined ? {} : { dynamic_props_id: dynamicPropsId }),
        ...(sourceId === undefined ? {} : { source_id: sourceId }),
      };
      const answer = await api.post('/v1/components/{id}/props', { path: { id: componentId }, body });
      return { next, ...answer.data.dynamic_props };
    },
    onSuccess: ({ next, id, configurable_props: dynamic }) => {
      const shown = withDynamic(definitions, dynamic as unknown as PropDefinition[]);
      onChange({ definitions: shown, values: withinProps(next, shown), dynamicPropsId: id });
    },
  });
  const set = (definition: PropDefinition, value: unknown) => {
    const next = { ...values, [definition.name]: value };
    onChange({ ...state, values: next });
    if (definition.reloadProps === true && value !== undefined) reloading.mutate(next);
  };
  const shown = definitions.filter(isShown);
  return (
    <div className="flex flex-col gap-4" aria-busy={reloading.isPending || undefined}>
      {shown.length === 0 && <p className="text-sm text-ink-soft">This component has nothing to configure.</p>}
      {shown.map((definition) => (
        <PropField
          key={definition.name}
          definition={definition}
          value={values[definition.name]}
          onChange={(value) => set(definition, value)}
          errors={messagesFor(error, definition.name)}
          {...(around === undefined ? {} : { around })}
          context={{ componentId, values, ...given({ sourceId, dynamicPropsId }) }}
        />
      ))}
      {reloading.isPending && (
        <p role="status" className="text-xs text-ink-faint">
          Asking the component which further props there are…
        </p>
      )}
      <ProblemNote error={reloading.error} />
    </div>
  );
}

/** Without those of props that there are no more: the API refuses names that it does not know. */
function withinProps(values: PropValues, props: readonly Pick<PropDefinition, 'name'>[]): PropValues {
  const names = new Set(props.map(({ name }) => name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}

/** The component's own props. Other props of a step came from an answer whose id is not kept. */
async function readOwnProps(id: string): Promise<readonly { name: string }[]> {
  const { data } = await api.get('/v1/components/{id}', { path: { id } });
  return data.configurable_props as unknown as PropDefinition[];
}

/** Appends computed props; they replace own props of the same name. */
function withDynamic(definitions: readonly PropDefinition[], dynamic: readonly PropDefinition[]): PropDefinition[] {
  const names = new Set(dynamic.map(({ name }) => name));
  const own = definitions.filter((definition) => !('isDynamic' in definition) && !names.has(definition.name));
  return [...own, ...dynamic.map((definition) => ({ ...definition, isDynamic: true }))];
}

function given(context: { sourceId: string | undefined; dynamicPropsId: string | undefined }) {
  const { sourceId, dynamicPropsId } = context;
  return {
    ...(sourceId === undefined ? {} : { sourceId }),
    ...(dynamicPropsId === undefined ? {} : { dynamicPropsId }),
  };
}

export interface PropContext {
  componentId: string;
  sourceId?: string;
  dynamicPropsId?: string;
  /** All that is filled in so far: choices may depend on it. */
  values: PropValues;
}

export interface PropFieldProps {
  definition: PropDefinition;
  value: unknown;
  /** Undefined takes the value away: the default counts then. */
  onChange: (value: unknown) => void;
  errors: readonly string[];
  context: PropContext;
}

function PropField({ around, ...props }: PropFieldProps & Pick<PropFormProps, 'around'>) {
  const Kind = kindOf(props.definition);
  const field = <Kind {...props} />;
  return around === undefined ? field : around(props, field);
}

function kindOf(definition: PropDefinition): (props: PropFieldProps) => React.ReactNode {
  const type = baseType(definition);
  if (type === 'alert') return AlertNote;
  if (type === 'app') return AppField;
  if (type === 'data_store') return DataStoreField;
  if (type === '$.interface.timer') return TimerField;
  if (hasComputedOptions(definition) || staticChoices(definition) !== undefined) return ChoiceField;
  if (isList(definition)) return ListField;
  if (type === 'boolean') return BooleanField;
  if (type === 'integer' || type === 'number') return NumberField;
  if (type === 'string') return definition.secret === true ? SecretField : StringField;
  return JsonField;
}

/**
 * Initial values of a form: the configuration only, so that defaults stay those of the component.
 */
export function useProps(definitions: readonly PropDefinition[], values: PropValues) {
  return useState<PropFormState>({ definitions, values });
}
