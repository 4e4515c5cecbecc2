import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icons.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { useLongList } from '../../ui/long-list.ts';
import { Page, Panel } from '../../ui/page.tsx';
import { PendingPage } from '../../ui/pending-page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Stack } from '../../ui/stack.tsx';
import { Status } from '../../ui/status.tsx';
import { formatDuration, Time } from '../../ui/time.tsx';
import { ExecutionSends } from './execution-sends.tsx';
import { type Execution, executionQuery, type ExecutionStep, isOver, workflowQuery } from './workflow-queries.ts';

/** One passage of an event through a workflow, step by step. */
export function ExecutionPage() {
  const { id } = useParams({ from: '/shell/executions/$id' });
  const [asked, setAsked] = useState(0);
  const { data: execution, error } = useQuery(executionQuery(id));
  const { data: current } = useQuery({
    ...workflowQuery(execution?.workflow_id ?? ''),
    enabled: execution !== undefined,
  });
  if (execution === undefined) {
    return <PendingPage title="Execution" error={error} list="/workflows" />;
  }
  const { status, trace_id: trace, workflow_id: workflow, started_at: from, ended_at: to, reason, wait } = execution;
  const { deployment_id: own } = execution;
  const isOlder = current !== undefined && own !== null && own !== current.deployment_id;
  return (
    <Page
      title="Execution"
      aside={<Status of={status} />}
      actions={<ExecutionActions execution={execution} isOlder={isOlder} />}
    >
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm text-ink-soft">
        <Fact name="Workflow">
          <Link to="/workflows/$id" params={{ id: workflow }} className="text-accent underline">
            {current?.name ?? workflow}
          </Link>
        </Fact>
        <Fact name="Trace">
          <Link to="/traces/$id" params={{ id: trace }} className="text-accent underline">
            {trace}
          </Link>
        </Fact>
        {execution.replay_of !== null && (
          <Fact name="Replay of">
            <Link to="/executions/$id" params={{ id: execution.replay_of }} className="text-accent underline">
              {execution.replay_of}
            </Link>
          </Fact>
        )}
        {from !== null && (
          <Fact name="Started">
            <Time atMs={from} />
          </Fact>
        )}
        {from !== null && to !== null && <Fact name="Took">{formatDuration(to - from)}</Fact>}
        {isOlder && <Fact name="Version">an older one; a replay runs with the current one</Fact>}
        {reason !== null && <Fact name="Reason">{reason}</Fact>}
        {wait !== null && (
          <Fact name={`Waits (${wait.kind})`}>
            goes on <Time atMs={wait.until} />
          </Fact>
        )}
      </dl>
      <FailureOf execution={execution} onShow={() => setAsked(asked + 1)} />
      <Timeline execution={execution} asked={asked} />
      <ExecutionSends execution={execution} />
      <Panel title="Event">
        <div className="p-4">
          <JsonTree value={execution.trigger.event} label="Event" />
        </div>
      </Panel>
    </Page>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="flex gap-1.5">
      <dt className="text-ink-faint">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** An execution of an older version is replayed with the current one, which may mend it. */
function ExecutionActions({ execution, isOlder }: { execution: Execution; isOlder: boolean }) {
  const { id } = execution;
  const version = isOlder ? { deployment: 'newest' as const } : {};
  const newest = isOlder ? ' --newest' : '';
  const queries = useQueryClient();
  const navigate = useNavigate();
  const path = { id };
  const replaying = useMutation({
    mutationFn: (from: 'start' | 'failed') =>
      api.post('/v1/executions/{id}/replay', { path, body: { from, ...version } }),
    onSuccess: ({ data }) => navigate({ to: '/executions/$id', params: { id: data.execution_id } }),
  });
  const cancelling = useMutation({
    mutationFn: () => api.post('/v1/executions/{id}/cancel', { path }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['execution', id] }),
  });
  const resuming = useMutation({
    mutationFn: () => api.post('/v1/executions/{id}/resume', { path, body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['execution', id] }),
  });
  const mayReplay = isOver(execution);
  return (
    <>
      {execution.status === 'failed' && (
        <Button kind="primary" busy={replaying.isPending} onClick={() => replaying.mutate('failed')}>
          <Icon name="retry" />
          Replay from the failed step
        </Button>
      )}
      {mayReplay && (
        <Button needs="change" busy={replaying.isPending} onClick={() => replaying.mutate('start')}>
          Replay
        </Button>
      )}
      {execution.wait !== null && execution.wait.kind !== 'retry' && (
        <Button kind="primary" busy={resuming.isPending} onClick={() => resuming.mutate()}>
          <Icon name="play" />
          Resume now
        </Button>
      )}
      {!mayReplay && (
        <Button kind="danger" busy={cancelling.isPending} onClick={() => cancelling.mutate()}>
          Cancel
        </Button>
      )}
      <CopyMenu
        command={{ path: `/v1/executions/${id}`, hw: `hw describe ${id}` }}
        actions={{
          Replay: mayReplay
            ? {
                method: 'POST',
                path: `/v1/executions/${id}/replay`,
                body: { from: 'start', ...version },
                hw: `hw workflows replay ${id}${newest}`,
              }
            : undefined,
          'Replay from the failed step':
            execution.status === 'failed'
              ? {
                  method: 'POST',
                  path: `/v1/executions/${id}/replay`,
                  body: { from: 'failed', ...version },
                  hw: `hw workflows replay ${id} --from-failed${newest}`,
                }
              : undefined,
          'Resume now':
            execution.wait === null
              ? undefined
              : { method: 'POST', path: `/v1/executions/${id}/resume`, body: {}, hw: `hw workflows resume ${id}` },
          Cancel: mayReplay
            ? undefined
            : { method: 'POST', path: `/v1/executions/${id}/cancel`, hw: `hw workflows cancel ${id}` },
        }}
      />
      <div className="basis-full empty:hidden">
        <ProblemNote error={replaying.error ?? resuming.error ?? cancelling.error} />
      </div>
    </>
  );
}

interface FailureProps {
  error: NonNullable<Execution['error']>;
  isAlert?: boolean;
  /** The top of the page says why: here is only where. */
  isTold?: boolean;
}

function Failure({ error: { code, message, stack }, isAlert = false, isTold = false }: FailureProps) {
  return (
    <div role={isAlert ? 'alert' : undefined} className="rounded-md border border-bad/30 bg-bad-soft p-3 text-sm">
      <p className="font-medium text-bad">{code}</p>
      {!isTold && <p className="break-words whitespace-pre-wrap">{message}</p>}
      {stack !== null && <Stack text={stack} message={message} />}
    </div>
  );
}

/** Why it failed. Where a step shows the rest, a link leads to the step. */
function FailureOf({ execution, onShow }: { execution: Execution; onShow: () => void }) {
  const { error, steps } = execution;
  if (error === null) return null;
  const { message, namespace } = error;
  if (namespace === null || (steps[namespace]?.error ?? null) === null) return <Failure error={error} isAlert />;
  return (
    <div
      role="alert"
      className="flex items-center gap-3 rounded-md border border-bad/30 bg-bad-soft px-3 py-2 text-sm max-sm:flex-wrap"
    >
      <p className="min-w-0 flex-1 break-words whitespace-pre-wrap max-sm:basis-full">
        <span className="font-medium text-bad">Step {namespace} failed:</span> {message}
      </p>
      <Link
        from="/executions/$id"
        to="."
        search={{ step: namespace }}
        replace
        resetScroll={false}
        onClick={onShow}
        className="whitespace-nowrap text-accent underline"
      >
        Show the step
      </Link>
    </div>
  );
}

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
function Timeline({ execution, asked }: TimelineProps) {
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
