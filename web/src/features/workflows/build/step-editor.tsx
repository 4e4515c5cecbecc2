import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { CodeView } from '../../../ui/code-view.tsx';
import { Field, INPUT_CLASS, TextField } from '../../../ui/field.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { Panel } from '../../../ui/page.tsx';
import { ProblemNote } from '../../../ui/problem.tsx';
import type { PropDefinition } from '../../props/prop-definition.ts';
import { PropForm } from '../../props/prop-form.tsx';
import { codeProblems } from '../../sources/code-problems.ts';
import { componentQuery } from '../../sources/source-queries.ts';
import { type DraftStep, namespaceFault } from './draft.ts';
import { ExpressionField } from './expression-field.tsx';
import { isShownInPlace, problemsBesideProps } from './problems.ts';
import type { TestedStep } from './sample.ts';
import { TestedStepView } from './tested-step.tsx';
import type { ValueGroup } from './value-picker.tsx';

export interface StepEditorProps {
  step: DraftStep;
  others: readonly string[];
  /** Names of those that run before it. */
  before: readonly string[];
  /** The values that its expressions can be made of. */
  groups: readonly ValueGroup[];
  /** Errors of the step; paths begin at the step. */
  error: unknown;
  result: TestedStep | undefined;
  testError: unknown;
  isTesting: boolean;
  onTest: (mode: 'step' | 'up_to') => void;
  onChange: (step: DraftStep) => void;
  onRename: (namespace: string) => void;
  onMove: ((by: 1 | -1) => void) | undefined;
  onDuplicate: () => void;
  onDelete: () => void;
}

/** One step: its name, code and props, its error handling, and the result of its test. */
export function StepEditor(props: StepEditorProps) {
  const { step, groups, error, onChange, result, testError, isTesting, onTest } = props;
  const { definitions, values, dynamicPropsId, componentId } = step;
  return (
    <div className="flex flex-col gap-4">
      <Panel title={step.namespace} actions={<StepActions {...props} />}>
        <div className="flex flex-col gap-4 p-4">
          <NameField {...props} />
          <CodePart step={step} before={props.before} onChange={onChange} error={error} />
          {(componentId !== undefined || definitions.length > 0) && (
            <PropForm
              componentId={componentId ?? ''}
              state={{ definitions, values, ...(dynamicPropsId === undefined ? {} : { dynamicPropsId }) }}
              onChange={(state) => onChange({ ...step, ...state })}
              error={error}
              around={(field, native) => <ExpressionField field={field} native={native} groups={groups} />}
            />
          )}
          <FailureFields step={step} onChange={onChange} />
          <ProblemNote error={problemsBesideProps(error, step)} />
        </div>
      </Panel>
      <Panel
        title="Test"
        actions={
          <>
            <Button size="small" needs="change" busy={isTesting} onClick={() => onTest('up_to')}>
              Test up to here
            </Button>
            <Button size="small" kind="primary" busy={isTesting} onClick={() => onTest('step')}>
              <Icon name="play" className="size-3.5" />
              Test step
            </Button>
          </>
        }
      >
        <div className="flex flex-col gap-3 p-4" aria-live="polite" aria-busy={isTesting || undefined}>
          {!isShownInPlace(testError) && <ProblemNote error={testError} />}
          {isShownInPlace(testError) && (
            <p role="alert" className="text-sm text-bad">
              It was not tested: what is wrong is marked above, or at the steps before.
            </p>
          )}
          {result === undefined ? (
            <p className="text-sm text-ink-soft">
              Runs it with the test event. Requests that it makes are real; nothing is emitted or sent, and no execution
              is stored.
            </p>
          ) : (
            <TestedStepView step={result} />
          )}
        </div>
      </Panel>
    </div>
  );
}

function StepActions({ step: { namespace }, onMove, onDuplicate, onDelete }: StepEditorProps) {
  const icon = 'px-1.5';
  return (
    <>
      {onMove !== undefined && (
        <>
          <Button
            kind="quiet"
            size="small"
            className={icon}
            aria-label={`Move ${namespace} up`}
            onClick={() => onMove(-1)}
          >
            <Icon name="chevron" className="size-3.5 -rotate-90" />
          </Button>
          <Button
            kind="quiet"
            size="small"
            className={icon}
            aria-label={`Move ${namespace} down`}
            onClick={() => onMove(1)}
          >
            <Icon name="chevron" className="size-3.5 rotate-90" />
          </Button>
        </>
      )}
      <Button kind="quiet" size="small" aria-label={`Duplicate ${namespace}`} onClick={onDuplicate}>
        Duplicate
      </Button>
      <Button kind="quiet" size="small" className="text-bad" aria-label={`Delete ${namespace}`} onClick={onDelete}>
        Delete
      </Button>
    </>
  );
}

/** Taken when the field is left: expressions of other steps follow the name. */
function NameField({ step: { namespace }, others, onRename }: StepEditorProps) {
  const [text, setText] = useState(namespace);
  const fault = namespaceFault(text, others);
  const take = () => {
    if (fault === undefined && text !== namespace) onRename(text);
  };
  return (
    <div className="max-w-sm">
      <TextField
        label="Step name"
        className="font-mono"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={take}
        onKeyDown={({ key }) => key === 'Enter' && take()}
        {...(fault === undefined ? {} : { errors: [fault] })}
      />
    </div>
  );
}

function CodePart({ step, before, onChange, error }: Pick<StepEditorProps, 'step' | 'before' | 'onChange' | 'error'>) {
  const { code, componentId, namespace } = step;
  const component = useQuery({ ...componentQuery(componentId ?? ''), enabled: componentId !== undefined });
  const [isOpen, setOpen] = useState(code !== undefined);
  const reading = useMutation({
    mutationFn: async () => (await api.post('/v1/components', { body: { component_code: code ?? '' } })).data,
    onSuccess: (saved) => {
      const { code: _, ...rest } = step;
      const definitions = saved.configurable_props as unknown as PropDefinition[];
      // The component that was saved for it is what the step is made of from now on.
      onChange(
        step.id === undefined
          ? { ...rest, componentId: saved.id, label: saved.name, definitions }
          : { ...step, definitions },
      );
    },
  });
  const deployed = component.data?.code;
  const shown = code ?? deployed;
  const button = (
    <Button size="small" className="self-start" disabled={component.isLoading} onClick={() => setOpen(true)}>
      Show code
    </Button>
  );
  // It has its place before it is known that there is code.
  if (shown === undefined || shown === null) return component.isLoading ? button : null;
  if (!isOpen) return button;
  const hasProps = code !== undefined && /\bprops\s*:\s*\{\s*[^\s}]/.test(code);
  return (
    <div className="flex flex-col gap-2">
      <CodeView
        value={shown}
        label={`Code of ${namespace}`}
        language="typescript"
        steps={before}
        onChange={(next) => {
          const { code: _, ...rest } = step;
          onChange(next === deployed ? rest : { ...rest, code: next });
        }}
        problems={[...codeProblems(error), ...codeProblems(reading.error)]}
      />
      {hasProps && (
        <div className="flex items-center gap-2 text-xs text-ink-soft">
          <Button size="small" needs="change" busy={reading.isPending} onClick={() => reading.mutate()}>
            Show its props
          </Button>
          Reads which props the code has, for the form below.
        </div>
      )}
      <ProblemNote error={reading.error} />
    </div>
  );
}

function FailureFields({ step, onChange }: Pick<StepEditorProps, 'step' | 'onChange'>) {
  const { onError, retries } = step;
  return (
    <div className="grid gap-3 border-t border-line pt-4 sm:grid-cols-2">
      <Field label="When it fails">
        {(ids) => (
          <select
            {...ids}
            className={INPUT_CLASS}
            value={onError}
            onChange={({ target }) => onChange({ ...step, onError: target.value as DraftStep['onError'] })}
          >
            <option value="fail">the execution fails</option>
            <option value="continue">go on with the next step</option>
          </select>
        )}
      </Field>
      <TextField
        label="Retries"
        type="number"
        min={0}
        max={10}
        placeholder="as the settings say"
        value={retries ?? ''}
        onChange={({ target: { value } }) => onChange({ ...step, retries: value === '' ? null : Number(value) })}
      />
    </div>
  );
}
