import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { api, ask } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { CopyButton, CopyMenu } from '../../ui/copy.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { ExecutionList } from './execution-list.tsx';
import { triggerText } from './workflow-list.tsx';
import { type Deployment, deploymentsQuery, type Workflow, workflowQuery } from './workflow-queries.ts';

export function WorkflowPage() {
  const { id } = useParams({ from: '/shell/workflows/$id' });
  const { data: workflow, error } = useQuery(workflowQuery(id));
  if (workflow === undefined) {
    return <Page title="Workflow">{error === null ? <SkeletonRows /> : <ProblemNote error={error} />}</Page>;
  }
  return <WorkflowView workflow={workflow} />;
}

function WorkflowView({ workflow }: { workflow: Workflow }) {
  const { tab = 'executions' } = useSearch({ from: '/shell/workflows/$id' });
  const navigate = useNavigate({ from: '/workflows/$id' });
  const { id, name, active, version } = workflow;
  return (
    <Page
      title={name}
      aside={
        <>
          <Status of={active ? 'active' : 'inactive'} />
          <span className="text-xs text-ink-faint">version {version}</span>
        </>
      }
      actions={<WorkflowActions workflow={workflow} />}
    >
      <ul className="flex flex-wrap gap-x-4 gap-y-1 font-mono text-xs text-ink-soft">
        {workflow.triggers.map((trigger) => (
          <li key={trigger.id} className="flex items-center gap-1">
            {triggerText(trigger)}
            <CopyButton text={triggerText(trigger)} what={`trigger ${trigger.id}`} />
          </li>
        ))}
      </ul>
      <Tabs
        label="Workflow"
        value={tab}
        onChange={(value) => void navigate({ search: { tab: value } })}
        tabs={[
          { value: 'executions', label: 'Executions', panel: <ExecutionList workflowId={id} /> },
          { value: 'steps', label: 'Steps', panel: <Steps workflow={workflow} /> },
          { value: 'versions', label: 'Versions', panel: <Versions workflow={workflow} /> },
        ]}
      />
    </Page>
  );
}

function WorkflowActions({ workflow: { id, name, name_slug: slug, active } }: { workflow: Workflow }) {
  const [isRunning, setRunning] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const params = { path: { id } };
  const switching = useMutation({
    mutationFn: () => ask(api.PUT('/v1/workflows/{id}', { params, body: { active: !active } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['workflow', id] }),
  });
  const deleting = useMutation({
    mutationFn: () => ask(api.DELETE('/v1/workflows/{id}', { params })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['workflows'] });
      await navigate({ to: '/workflows' });
    },
  });
  return (
    <>
      <Button kind="primary" onClick={() => setRunning(true)}>
        <Icon name="play" />
        Run now
      </Button>
      <Button busy={switching.isPending} onClick={() => switching.mutate()}>
        <Icon name={active ? 'pause' : 'play'} />
        {active ? 'Deactivate' : 'Activate'}
      </Button>
      <Button kind="danger" onClick={() => setDeleting(true)}>
        Delete
      </Button>
      <CopyMenu command={{ path: `/v1/workflows/${id}`, hw: `hw describe ${slug}` }} />
      {isRunning && <RunDialog id={id} onClose={() => setRunning(false)} />}
      <Confirm
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete workflow ${name}?`}
        action="Delete workflow"
        busy={deleting.isPending}
        onConfirm={() => deleting.mutate()}
      >
        Its versions, executions and subscriptions go with it, and its endpoints answer 404. Executions that run are
        cancelled.
        <ProblemNote error={deleting.error} />
      </Confirm>
      <div className="basis-full empty:hidden">
        <ProblemNote error={switching.error} />
      </div>
    </>
  );
}

function RunDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [text, setText] = useState('{\n  "hello": "world"\n}');
  const navigate = useNavigate();
  const running = useMutation({
    mutationFn: () => {
      const event: unknown = text.trim() === '' ? {} : JSON.parse(text);
      return ask(api.POST('/v1/workflows/{id}/run', { params: { path: { id } }, body: { event } }));
    },
    onSuccess: ({ data }) => navigate({ to: '/executions/$id', params: { id: data.execution_id } }),
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    running.mutate();
  };
  return (
    <Dialog open onClose={onClose} title="Run now" description="The event that the steps get, as JSON.">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <CodeView value={text} label="Event" language="json" onChange={setText} />
        <ProblemNote error={running.error} />
        <Button type="submit" kind="primary" className="self-end" busy={running.isPending}>
          Run
        </Button>
      </form>
    </Dialog>
  );
}

function Steps({ workflow: { steps, settings } }: { workflow: Workflow }) {
  return (
    <div className="flex flex-col gap-4">
      {steps.map(({ id, namespace, component_id, props, on_error }) => (
        <Panel key={id} title={namespace}>
          <div className="flex flex-col gap-2 p-4 text-sm">
            <p className="font-mono text-xs text-ink-faint">
              {component_id} · on error: {on_error}
            </p>
            <JsonTree value={props} label={`Props of ${namespace}`} />
          </div>
        </Panel>
      ))}
      <Panel title="Settings">
        <div className="p-4">
          <JsonTree value={settings} label="Settings" />
        </div>
      </Panel>
    </div>
  );
}

/** Versions never change: going back is making an older one the current one again. */
function Versions({ workflow }: { workflow: Workflow }) {
  const list = useInfiniteQuery(deploymentsQuery(workflow.id));
  const queries = useQueryClient();
  const deploying = useMutation({
    mutationFn: (deploymentId: string) =>
      ask(
        api.POST('/v1/workflows/{id}/deploy', {
          params: { path: { id: workflow.id } },
          body: { deployment_id: deploymentId },
        }),
      ),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['deployments', workflow.id] });
      await queries.invalidateQueries({ queryKey: ['workflow', workflow.id] });
    },
  });
  const columns: readonly Column<Deployment>[] = [
    { header: 'Version', cell: ({ version }) => version, className: 'w-24 tabular-nums' },
    { header: 'Made', cell: ({ created_at: at }) => <Time atMs={at * 1000} /> },
    {
      header: 'Current',
      cell: ({ id, version, is_current: isCurrent }) =>
        isCurrent ? (
          <Status of="active" label="current" />
        ) : (
          <Button
            size="small"
            busy={deploying.isPending}
            aria-label={`Deploy version ${version}`}
            onClick={() => deploying.mutate(id)}
          >
            Deploy
          </Button>
        ),
      className: 'w-32',
    },
  ];
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className="flex flex-col gap-4">
      <ProblemNote error={deploying.error} />
      <Paged list={list} count={rows.length} empty={null}>
        <Table label="Versions" columns={columns} rows={rows} keyOf={({ id }) => id} />
      </Paged>
    </div>
  );
}
