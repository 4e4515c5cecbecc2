import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icons.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { PendingPage } from '../../ui/pending-page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { formatDuration, Time } from '../../ui/time.tsx';
import { FailureOf } from './execution-failure.tsx';
import { ExecutionSends } from './execution-sends.tsx';
import { Timeline } from './execution-steps.tsx';
import { type Execution, executionQuery, isOver, workflowQuery } from './workflow-queries.ts';

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
