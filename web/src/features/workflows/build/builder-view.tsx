import { useState } from 'react';
import { useNames } from '../../../api/names.ts';
import { Below } from '../../../ui/beside.tsx';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/empty.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { ProblemNote } from '../../../ui/problem.tsx';
import { AddStep } from './add-step.tsx';
import { type DraftStep, type DraftTrigger, newNamespace, newStepKey } from './draft.ts';
import { isShownInPlace, problemsOfStep, problemsOfTriggers } from './problems.ts';
import { type Samples, useSamples, visibleExports } from './sample.ts';
import { StepEditor } from './step-editor.tsx';
import { focusCard, StepList } from './step-list.tsx';
import { TestEvent } from './test-event.tsx';
import { TriggerEditor } from './trigger-editor.tsx';
import type { Builder } from './use-builder.ts';
import type { ValueGroup } from './value-picker.tsx';

/** Stands in the URL, which the page around it keeps. */
interface BuilderSearch {
  step?: string | undefined;
  event?: string | undefined;
}

interface BuilderViewProps {
  workflowId?: string;
  builder: Builder;
  search: BuilderSearch;
  onSearch: (search: BuilderSearch) => void;
}

/** The steps of a workflow, and beside them the one that is being edited. */
export function BuilderView({ workflowId, builder, search, onSearch }: BuilderViewProps) {
  const { draft, set, results } = builder;
  const [adding, setAdding] = useState<number>();
  const [written, setWritten] = useState<unknown>({ body: { hello: 'world' } });
  const sourceIds = draft.triggers.flatMap(({ sourceId = '' }) => (sourceId === '' ? [] : [sourceId]));
  const sourceNames = useNames(...(sourceIds.length > 0 ? (['sources'] as const) : []));
  const samples = useSamples({ workflowId, sourceIds, chosen: search.event, written });
  const { refusal } = builder;
  const at = draft.steps.findIndex(({ namespace }) => namespace === search.step);
  const step = draft.steps[at];
  const taken = draft.steps.map(({ namespace }) => namespace);
  const select = (namespace: string) => onSearch({ ...search, step: namespace });
  const add = (added: DraftStep, position: number) => {
    builder.setSteps(draft.steps.toSpliced(position, 0, added));
    setAdding(undefined);
    select(added.namespace);
    focusCard(added.namespace);
  };
  const move = (namespace: string, by: 1 | -1) => {
    const from = taken.indexOf(namespace);
    const [moved, to] = [draft.steps[from], from + by];
    if (moved === undefined || to < 0 || to >= draft.steps.length) return;
    builder.setSteps(draft.steps.toSpliced(from, 1).toSpliced(to, 0, moved));
  };
  const faulty = new Set(taken.filter((_, position) => problemsOfStep(refusal, position) !== undefined));
  if (problemsOfTriggers(refusal) !== undefined) faulty.add('trigger');
  return (
    <div className="flex flex-col gap-4">
      <DraftNotes builder={builder} />
      <div className="grid items-start gap-4 lg:grid-cols-[17rem_minmax(0,1fr)]">
        <StepList
          trigger={draft.triggers.map((one) => triggerWord(one, sourceNames)).join(', ') || 'by hand'}
          steps={draft.steps}
          selected={step === undefined ? 'trigger' : step.namespace}
          results={results}
          faulty={faulty}
          onSelect={select}
          onMove={move}
          onAdd={setAdding}
        />
        <Below
          closes={false}
          isOpen={search.step !== undefined}
          title={step === undefined ? 'Trigger' : `Step ${step.namespace}`}
          onClose={() => onSearch({ ...search, step: undefined })}
        >
          <div className="flex min-w-0 flex-col gap-4">
            {step === undefined ? (
              <>
                <TriggerEditor
                  triggers={draft.triggers}
                  onChange={(triggers) => set({ ...draft, triggers })}
                  error={problemsOfTriggers(refusal)}
                />
                <TestEvent
                  samples={samples}
                  onChoose={(event) => onSearch({ ...search, event })}
                  written={written}
                  onWrite={setWritten}
                />
                {draft.steps.length === 0 && <NoSteps onAdd={() => setAdding(0)} />}
              </>
            ) : (
              <StepEditor
                key={step.key}
                step={step}
                others={taken.filter((name) => name !== step.namespace)}
                before={taken.slice(0, at)}
                groups={groupsFor(builder, samples, at)}
                error={problemsOfStep(refusal, at)}
                result={results[step.namespace]}
                testError={builder.testing.error}
                isTesting={builder.testing.isPending}
                onTest={(mode) => builder.testing.mutate({ namespace: step.namespace, mode, sample: samples.sample })}
                onChange={(next) => builder.changeStep(at, next)}
                onRename={(name) => {
                  builder.rename(step.namespace, name);
                  onSearch({ ...search, step: name });
                }}
                onMove={taken.length > 1 ? (by) => move(step.namespace, by) : undefined}
                onDuplicate={() => add(copyOf(step, taken), at + 1)}
                onDelete={() => {
                  builder.setSteps(draft.steps.toSpliced(at, 1));
                  const next = taken[at - 1] ?? 'trigger';
                  select(next);
                  focusCard(next);
                }}
              />
            )}
          </div>
        </Below>
      </div>
      {adding !== undefined && (
        <AddStep taken={taken} onAdd={(added) => add(added, adding)} onClose={() => setAdding(undefined)} />
      )}
    </div>
  );
}

function triggerWord(trigger: DraftTrigger, sourceNames: ReadonlyMap<string, string>): string {
  const { type, cron, intervalSeconds, sourceId = '' } = trigger;
  switch (type) {
    case 'http':
      return 'a request';
    case 'timer':
      return cron === undefined ? `every ${intervalSeconds ?? '…'} s` : `cron ${cron}`;
    case 'source':
      return `events of ${sourceNames.get(sourceId) ?? (sourceId || 'a source')}`;
  }
}

/** Secrets are not copied, because they cannot be read. */
function copyOf(step: DraftStep, taken: readonly string[]): DraftStep {
  const copy = { ...step };
  delete copy.id;
  return { ...copy, key: newStepKey(), namespace: newNamespace(step.namespace, taken), saved: {} };
}

/**
 * Values that a step can use: the event, and the earlier steps. A step's values come from its last
 * test, or else from the chosen execution.
 */
function groupsFor({ draft, results }: Builder, { sample }: Samples, position: number): ValueGroup[] {
  const before = draft.steps.slice(0, position).map(({ namespace }) => {
    const tested = results[namespace];
    const value = tested === undefined ? sample.steps[namespace] : visibleExports(tested);
    return { title: `Step ${namespace}`, root: `steps.${namespace}`, value };
  });
  return [
    { title: 'Event', root: 'steps.trigger.event', value: sample.event },
    ...before,
    ...(sample.context === undefined
      ? []
      : [{ title: 'Context', root: 'steps.trigger.context', value: sample.context }]),
  ];
}

function DraftNotes({ builder: { deploying, isStale, isChanged, discard } }: { builder: Builder }) {
  return (
    <>
      {isStale && isChanged && (
        <p role="status" className="rounded-md border border-warn/30 bg-warn-soft px-3 py-2 text-sm">
          Another version was deployed since you began. Deploying replaces it with yours.{' '}
          <Button size="small" onClick={discard}>
            Load that version
          </Button>
        </p>
      )}
      {isShownInPlace(deploying.error) ? (
        <p role="alert" className="rounded-md border border-bad/30 bg-bad-soft px-3 py-2 text-sm">
          It was not deployed. What is wrong is marked at its step or field.
        </p>
      ) : (
        <ProblemNote error={deploying.error} />
      )}
    </>
  );
}

function NoSteps({ onAdd }: { onAdd: () => void }) {
  return (
    <Empty
      icon="workflow"
      title="No steps yet"
      action={
        <Button kind="primary" onClick={onAdd}>
          <Icon name="plus" />
          Add the first step
        </Button>
      }
    >
      Steps run one after the other on each event: actions of the registry, or code of your own.
    </Empty>
  );
}
