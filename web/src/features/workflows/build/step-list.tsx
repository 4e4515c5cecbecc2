import { useQuery } from '@tanstack/react-query';
import type { KeyboardEvent, ReactNode } from 'react';
import { Button } from '../../../ui/button.tsx';
import { classNames } from '../../../ui/class-names.ts';
import { Icon } from '../../../ui/icons.tsx';
import { Status } from '../../../ui/status.tsx';
import { componentQuery } from '../../sources/source-queries.ts';
import type { DraftStep } from './draft.ts';
import type { TestedStep } from './sample.ts';

interface StepListProps {
  /** Describes the trigger. */
  trigger: string;
  steps: readonly DraftStep[];
  selected: string;
  results: Readonly<Record<string, TestedStep>>;
  /** Names of steps that the last save was refused for; `trigger` for the triggers. */
  faulty: ReadonlySet<string>;
  onSelect: (namespace: string) => void;
  onMove: (namespace: string, by: 1 | -1) => void;
  /** `position`: number of steps before the new one. */
  onAdd: (position: number) => void;
}

/** The keyboard stays at a step that has moved, once it is drawn in its new place. */
export function focusCard(namespace: string): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-step="${namespace}"]`)?.focus());
}

/** The workflow from its trigger to its last step. Alt with the arrows moves a step. */
export function StepList({ trigger, steps, selected, results, faulty, onSelect, onMove, onAdd }: StepListProps) {
  const onKeyDown = (event: KeyboardEvent, namespace: string) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key] as 1 | -1 | undefined;
    if (!event.altKey || by === undefined) return;
    event.preventDefault();
    onMove(namespace, by);
    focusCard(namespace);
  };
  return (
    <ol aria-label="Steps" className="flex flex-col">
      <li>
        <Card
          icon="event"
          name="trigger"
          title="Trigger"
          detail={trigger}
          isSelected={selected === 'trigger'}
          isFaulty={faulty.has('trigger')}
          onClick={() => onSelect('trigger')}
        />
      </li>
      {steps.map(({ key, namespace, label, componentId }, at) => (
        <li key={key}>
          <Line
            label={at === 0 ? 'Add step after trigger' : `Add step after ${steps[at - 1]?.namespace}`}
            onAdd={() => onAdd(at)}
          />
          <Card
            icon="workflow"
            name={namespace}
            title={namespace}
            detail={label === componentId ? <ComponentName id={componentId} /> : label}
            result={results[namespace]}
            isSelected={selected === namespace}
            isFaulty={faulty.has(namespace)}
            onClick={() => onSelect(namespace)}
            onKeyDown={(event) => onKeyDown(event, namespace)}
          />
        </li>
      ))}
      <li className="flex flex-col items-center">
        <span aria-hidden="true" className="h-4 w-px bg-line-strong" />
        <Button className="w-full border-dashed" onClick={() => onAdd(steps.length)}>
          <Icon name="plus" className="size-3.5" />
          Add step
        </Button>
      </li>
    </ol>
  );
}

function Line({ label, onAdd }: { label: string; onAdd: () => void }) {
  return (
    <div className="group relative flex h-6 items-center justify-center">
      <span aria-hidden="true" className="absolute h-full w-px bg-line-strong" />
      <button
        type="button"
        aria-label={label}
        title={label}
        onClick={onAdd}
        className="relative flex size-5 items-center justify-center rounded-full border border-line-strong bg-surface text-ink-soft opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
      >
        <Icon name="plus" className="size-3" />
      </button>
    </div>
  );
}

/** A version of a workflow names components by their ids alone. */
function ComponentName({ id }: { id: string }) {
  const { data, isPending } = useQuery(componentQuery(id));
  // An id that turns into a name a moment later would catch the eye.
  return isPending ? '\u00a0' : (data?.name ?? id);
}

interface CardProps {
  icon: 'event' | 'workflow';
  name: string;
  title: string;
  detail: ReactNode;
  result?: TestedStep | undefined;
  isSelected: boolean;
  isFaulty: boolean;
  onClick: () => void;
  onKeyDown?: (event: KeyboardEvent) => void;
}

function Card({ icon, name, title, detail, result, isSelected, isFaulty, onClick, onKeyDown }: CardProps) {
  return (
    <button
      type="button"
      aria-current={isSelected ? 'step' : undefined}
      data-step={name}
      onClick={onClick}
      onKeyDown={onKeyDown}
      className={classNames(
        'flex w-full items-center gap-2.5 rounded-lg border bg-surface px-3 py-2.5 text-left',
        isSelected ? 'border-accent ring-1 ring-accent' : 'border-line hover:border-line-strong',
      )}
    >
      <span
        className={classNames(
          'flex size-7 items-center justify-center rounded-md',
          isSelected ? 'bg-accent text-on-accent' : 'bg-accent-soft text-accent',
        )}
      >
        <Icon name={icon} />
      </span>
      <span className="min-w-0 flex-1">
        <span className="block truncate text-sm font-medium">{title}</span>
        <span className="block truncate text-xs text-ink-faint">{detail}</span>
      </span>
      {isFaulty && <Status of="error" label="refused" />}
      {!isFaulty && result !== undefined && (
        <Status of={result.status === 'done' ? 'succeeded' : 'failed'} label="tested" />
      )}
    </button>
  );
}
