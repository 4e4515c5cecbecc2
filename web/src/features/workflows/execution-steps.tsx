import { Link, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { classNames } from '../../ui/class-names.ts';
import { JsonTree } from '../../ui/json-tree.tsx';
import { useLongList } from '../../ui/long-list.ts';
import { Panel } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { formatDuration } from '../../ui/time.tsx';
import { Failure } from './execution-failure.tsx';
import { type Execution, type ExecutionStep } from './workflow-queries.ts';

const STEP_PX = 37;

interface TimelineProps {
  execution: Execution;
  /** How often the reader has asked for the step of the URL. */
  asked: number;
}

/**
 * Steps in the order of their start, on one time axis. Each opens to its result, the one of the URL
 * at once.
 */
export function Timeline({ execution, asked }: TimelineProps) {
  const { step: wanted } = useSearch({ from: '/shell/executions/$id' });
  const { steps, fromMs, toMs } = useMemo(() => timelineOf(execution), [execution]);
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const { list, rows, restPx, measure, reveal, isLong } = useLongList<HTMLOListElement>({
    count: steps.length,
    rowPx: STEP_PX,
    keyOf: (index) => (steps[index] as TimelineStep)[0],
  });
  const show = useRef(reveal);
  show.current = reveal;
  const at = steps.findIndex(([namespace]) => namespace === wanted);
  useEffect(() => {
    if (wanted === undefined || at === -1) return;
    setToggled((old) => new Map(old).set(wanted, true));
    show.current(at);
  }, [wanted, at, asked]);
  return (
    <Panel title="Steps">
      {steps.length === 0 && <p className="p-4 text-sm text-ink-soft">No step has ended yet.</p>}
      <ol ref={list} aria-label="Steps" className="flow-root divide-y divide-line" style={{ paddingBottom: restPx }}>
        {rows.map(({ index, gapPx }) => {
          const [namespace, step] = steps[index] as TimelineStep;
          return (
            <li
              key={namespace}
              ref={measure}
              data-index={index}
              aria-posinset={isLong ? index + 1 : undefined}
              aria-setsize={isLong ? steps.length : undefined}
              style={{ marginTop: gapPx }}
            >
              <StepRow
                workflowId={execution.workflow_id}
                namespace={namespace}
                step={step}
                range={{ fromMs, toMs }}
                focused={namespace === wanted ? asked : undefined}
                isTold={execution.error?.namespace === namespace}
                isOpen={toggled.get(namespace) ?? step.error !== null}
                onToggle={(isOpen) => setToggled((old) => new Map(old).set(namespace, isOpen))}
              />
            </li>
          );
        })}
      </ol>
    </Panel>
  );
}

type TimelineStep = [namespace: string, step: ExecutionStep];

function timelineOf(execution: Execution): { steps: TimelineStep[]; fromMs: number; toMs: number } {
  const steps = Object.entries(execution.steps).sort(([, a], [, b]) => a.started_at - b.started_at);
  const fromMs = steps[0]?.[1].started_at ?? 0;
  const toMs = steps.reduce((latest, [, { ended_at: at }]) => Math.max(latest, at), fromMs + 1);
  return { steps, fromMs, toMs };
}

interface StepRowProps {
  workflowId: string;
  namespace: string;
  step: ExecutionStep;
  range: { fromMs: number; toMs: number };
  isOpen: boolean;
  /** The top of the page says why it failed. */
  isTold: boolean;
  /** Each change of the number moves the focus here. */
  focused: number | undefined;
  onToggle: (isOpen: boolean) => void;
}

const WORDS: Record<string, string> = { done: 'succeeded', continued: 'failed', rerun: 'waiting' };

function StepRow({ workflowId, namespace, step, range, isOpen, isTold, focused, onToggle }: StepRowProps) {
  const summary = useRef<HTMLElement>(null);
  useEffect(() => {
    if (focused !== undefined) summary.current?.focus();
  }, [focused]);
  const { status, started_at: from, ended_at: to, runs, error } = step;
  const share = (ms: number) => ((ms - range.fromMs) / (range.toMs - range.fromMs)) * 100;
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open !== isOpen) onToggle(currentTarget.open);
      }}
    >
      <summary
        ref={summary}
        className="grid cursor-pointer grid-cols-[minmax(0,1fr)_7rem_minmax(0,1fr)_5rem] items-center gap-3 px-4 py-2 text-sm hover:bg-sunken"
      >
        <span className="truncate font-medium">
          {namespace}
          {runs > 1 && <span className="ml-2 text-xs font-normal text-ink-faint">{runs} runs</span>}
        </span>
        <span>
          <Status of={WORDS[status] ?? status} label={status} />
        </span>
        <span className="relative h-2.5">
          <span
            className={classNames('absolute h-full min-w-1 rounded-xs', error === null ? 'bg-accent' : 'bg-bad')}
            style={{ left: `${share(from)}%`, width: `${Math.max(share(to) - share(from), 0.6)}%` }}
          />
        </span>
        <span className="text-right text-xs text-ink-faint tabular-nums">{formatDuration(to - from)}</span>
      </summary>
      {isOpen && <StepResult workflowId={workflowId} namespace={namespace} step={step} isTold={isTold} />}
    </details>
  );
}

type StepResultProps = Pick<StepRowProps, 'workflowId' | 'namespace' | 'step' | 'isTold'>;

function StepResult({ workflowId, namespace, step, isTold }: StepResultProps) {
  const { error, logs } = step;
  return (
    <div className="flex flex-col gap-3 px-4 pb-4">
      {error !== null && <Failure error={error} isTold={isTold} />}
      {error !== null && (
        <Link
          to="/workflows/$id"
          params={{ id: workflowId }}
          search={{ tab: 'build', step: namespace }}
          className="self-start text-sm text-accent underline"
        >
          Change this step
        </Link>
      )}
      {logs.length > 0 && (
        <ol aria-label={`Log lines of ${namespace}`} className="rounded-md bg-sunken p-2 font-mono text-xs">
          {logs.map(({ at, message }, index) => (
            <li key={`${at} ${index}`} className="break-words whitespace-pre-wrap">
              {message}
            </li>
          ))}
        </ol>
      )}
      {hasMembers(step.props) && (
        <Output title="Inputs">
          <JsonTree value={step.props} label={`Inputs of ${namespace}`} maxHeight={240} />
        </Output>
      )}
      {step.$return_value !== undefined && (
        <Output title="Returned">
          <JsonTree value={step.$return_value} label={`What ${namespace} returned`} maxHeight={240} />
        </Output>
      )}
      {hasMembers(step.exports) && (
        <Output title="Exports">
          <JsonTree value={step.exports} label={`Exports of ${namespace}`} maxHeight={200} />
        </Output>
      )}
    </div>
  );
}

function Output({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div>
      <h3 className="mb-1 text-xs text-ink-faint">{title}</h3>
      {children}
    </div>
  );
}

function hasMembers(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
