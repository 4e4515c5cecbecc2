import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { api, forState } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { CopyButton, CopyMenu } from '../../ui/copy.tsx';
import { Actions, Confirm, Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { PendingPage } from '../../ui/pending-page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useEmitterNames } from '../events/emitter-names.ts';
import { BuilderView } from './build/builder-view.tsx';
import { type Builder, useBuilder } from './build/use-builder.ts';
import { ExecutionList } from './execution-list.tsx';
import { isPaused, PauseWorkflow } from './pause-workflow.tsx';
import { triggerText } from './workflow-list.tsx';
import { WorkflowSettings } from './workflow-settings.tsx';
import { Versions } from './workflow-versions.tsx';
import { type Workflow, workflowQuery } from './workflow-queries.ts';

export function WorkflowPage() {
  const { id } = useParams({ from: '/shell/workflows/$id' });
  const { data: workflow, error } = useQuery(workflowQuery(id));
  if (workflow === undefined) {
    return <PendingPage title="Workflow" error={error} list="/workflows" />;
  }
  return <WorkflowView workflow={workflow} />;
}

function WorkflowView({ workflow }: { workflow: Workflow }) {
  const { tab = 'executions', ...search } = useSearch({ from: '/shell/workflows/$id' });
  const [isRunning, setRunning] = useState(false);
  const builder = useBuilder(workflow, () => undefined);
  const navigate = useNavigate({ from: '/workflows/$id' });
  const names = useEmitterNames();
  const { id, name, active, version } = workflow;
  return (
    <Page
      title={name}
      aside={
        <>
          <Status of={active ? 'active' : 'inactive'} />
          {isPaused(workflow) && <Status of="suspended" label="paused" />}
          <span className="text-xs text-ink-faint">version {version}</span>
        </>
      }
      actions={<WorkflowActions workflow={workflow} builder={builder} onRun={() => setRunning(true)} />}
    >
      <ul className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-soft">
        {workflow.triggers.map((trigger) => (
          <TriggerItem key={trigger.id} trigger={trigger} names={names} />
        ))}
      </ul>
      <Tabs
        label="Workflow"
        value={tab}
        onChange={(value) => void navigate({ search: { tab: value } })}
        tabs={[
          {
            value: 'executions',
            label: 'Executions',
            panel: <ExecutionList workflowId={id} onRun={() => setRunning(true)} />,
          },
          {
            value: 'build',
            label: builder.isChanged ? 'Build •' : 'Build',
            panel: (
              <BuilderView
                workflowId={id}
                builder={builder}
                search={search}
                onSearch={(next) => void navigate({ search: { tab: 'build', ...next }, replace: true })}
              />
            ),
          },
          { value: 'versions', label: 'Versions', panel: <Versions workflow={workflow} /> },
          { value: 'settings', label: 'Settings', panel: <WorkflowSettings workflow={workflow} /> },
        ]}
      />
      {isRunning && <RunDialog workflow={workflow} onClose={() => setRunning(false)} />}
    </Page>
  );
}

interface TriggerItemProps {
  trigger: Workflow['triggers'][number];
  names: ReadonlyMap<string, string>;
}

function TriggerItem({ trigger, names }: TriggerItemProps) {
  const text = triggerText(trigger, names);
  const { source_id: source } = trigger;
  return (
    <li className="flex min-w-0 items-center gap-1">
      {source === undefined ? (
        <span className="truncate font-mono">{text}</span>
      ) : (
        <Link
          to={source.startsWith('p_') ? '/workflows/$id' : '/sources/$id'}
          params={{ id: source }}
          className="truncate text-accent underline"
        >
          {text}
        </Link>
      )}
      <CopyButton text={source ?? text} what={`trigger ${trigger.id}`} />
    </li>
  );
}

interface ActionsProps {
  workflow: Workflow;
  builder: Builder;
  onRun: () => void;
}

function WorkflowActions({ workflow, builder, onRun }: ActionsProps) {
  const { id, name, name_slug: slug, active } = workflow;
  const [isDeleting, setDeleting] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const path = { id };
  const headers = forState(workflow);
  const refresh = () => queries.invalidateQueries({ queryKey: ['workflow', id] });
  const switching = useMutation({
    mutationFn: () => api.put('/v1/workflows/{id}', { path, headers, body: { active: !active } }),
    onSettled: refresh,
  });
  const deleting = useMutation({
    mutationFn: () => api.delete('/v1/workflows/{id}', { path, headers }),
    onError: refresh,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['workflows'] });
      await navigate({ to: '/workflows' });
    },
  });
  return (
    <>
      {builder.isChanged && (
        <>
          <Button kind="quiet" onClick={builder.discard}>
            Discard changes
          </Button>
          <Button kind="primary" busy={builder.deploying.isPending} onClick={() => builder.deploying.mutate()}>
            Deploy
          </Button>
        </>
      )}
      <Button kind={builder.isChanged ? 'plain' : 'primary'} needs="change" onClick={onRun}>
        <Icon name="play" />
        Run now
      </Button>
      <PauseWorkflow workflow={workflow} />
      <Button needs="change" busy={switching.isPending} onClick={() => switching.mutate()}>
        {active ? 'Deactivate' : 'Activate'}
      </Button>
      <Button kind="danger" onClick={() => setDeleting(true)}>
        Delete
      </Button>
      <CopyMenu
        command={{ path: `/v1/workflows/${id}`, hw: `hw describe ${slug}` }}
        actions={{
          'Run now': { method: 'POST', path: `/v1/workflows/${id}/run`, body: { event: {} }, hw: `hw run ${id}` },
          [active ? 'Deactivate' : 'Activate']: {
            method: 'PUT',
            path: `/v1/workflows/${id}`,
            body: { active: !active },
            hw: `hw update ${id} --${active ? 'deactivate' : 'activate'}`,
          },
          Delete: { method: 'DELETE', path: `/v1/workflows/${id}`, hw: `hw delete ${id}` },
        }}
      />
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

function RunDialog({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const { id, triggers } = workflow;
  const [text, setText] = useState(() => {
    const data = { hello: 'world' };
    // As the steps get it from its endpoint.
    return JSON.stringify(triggers.some(({ type }) => type === 'http') ? { body: data } : data, undefined, 2);
  });
  const navigate = useNavigate();
  const running = useMutation({
    mutationFn: () => {
      const event: unknown = text.trim() === '' ? {} : JSON.parse(text);
      return api.post('/v1/workflows/{id}/run', { path: { id }, body: { event } });
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
        <Actions onCancel={onClose}>
          <Button type="submit" kind="primary" busy={running.isPending}>
            Run
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
