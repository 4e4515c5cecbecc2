import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { Below } from '../../ui/beside.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { componentQuery } from '../sources/source-queries.ts';
import { type Deployment, deploymentsQuery, type Workflow } from './workflow-queries.ts';

/** Versions never change: going back is making an older one the current one again. */
export function Versions({ workflow }: { workflow: Workflow }) {
  const { version: shown } = useSearch({ from: '/shell/workflows/$id' });
  const navigate = useNavigate({ from: '/workflows/$id' });
  const list = useInfiniteQuery(deploymentsQuery(workflow.id));
  const queries = useQueryClient();
  const deploying = useMutation({
    mutationFn: (deploymentId: string) =>
      api.post('/v1/workflows/{id}/deploy', {
        path: { id: workflow.id },
        body: { deployment_id: deploymentId },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['deployments', workflow.id] });
      await queries.invalidateQueries({ queryKey: ['workflow', workflow.id] });
    },
  });
  const columns: readonly Column<Deployment>[] = [
    { header: 'Version', cell: ({ version }) => version, className: 'tabular-nums @2xl:w-20' },
    { header: 'Made', cell: ({ created_at: at }) => <Time atMs={at * 1000} />, under: 'Version' },
    {
      header: 'Changes',
      cell: ({ id, version }) => (
        <Button
          size="small"
          kind="quiet"
          aria-label={`${id === shown ? 'Hide' : 'Show'} version ${version}`}
          aria-pressed={id === shown}
          onClick={() =>
            void navigate({ search: { tab: 'versions', ...(id === shown ? {} : { version: id }) }, replace: true })
          }
        >
          {id === shown ? 'Hide' : 'Show'}
        </Button>
      ),
      className: 'w-20',
    },
    {
      header: 'Current',
      cell: ({ id, version, is_current: isCurrent }) =>
        isCurrent ? (
          <Status of="active" label="current" />
        ) : (
          <Button
            size="small"
            needs="change"
            busy={deploying.isPending}
            aria-label={`Deploy version ${version}`}
            onClick={() => deploying.mutate(id)}
          >
            Deploy
          </Button>
        ),
      className: 'w-28',
    },
  ];
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className="flex flex-col gap-4">
      <ProblemNote error={deploying.error} />
      <Paged list={list} count={rows.length} empty={null}>
        <Table label="Versions" columns={columns} rows={rows} keyOf={({ id }) => id} selected={shown} />
      </Paged>
      {rows.length === 1 && (
        <p className="text-sm text-ink-soft">
          Each deploy makes a version, which is compared with the current one here and deployed again.{' '}
          <Link from="/workflows/$id" search={{ tab: 'build' }} className="text-accent underline">
            Change the workflow
          </Link>
        </p>
      )}
      <Below
        isOpen={shown !== undefined}
        title="Version"
        onClose={() => void navigate({ search: { tab: 'versions' }, replace: true })}
      >
        {shown !== undefined && <VersionDiff workflow={workflow} deploymentId={shown} />}
      </Below>
    </div>
  );
}

/** Changes from that version to the current one. */
function VersionDiff({ workflow, deploymentId }: { workflow: Workflow; deploymentId: string }) {
  const { id } = workflow;
  const { data, error } = useQuery({
    queryKey: ['workflow', id, deploymentId],
    queryFn: ({ signal }) =>
      api.get('/v1/workflows/{id}', { path: { id }, query: { deployment_id: deploymentId }, signal }),
    // A version never changes.
    staleTime: Infinity,
  });
  const version = data?.data;
  const isCurrent = deploymentId === workflow.deployment_id;
  return (
    <Panel
      title={
        version === undefined
          ? 'Version'
          : isCurrent
            ? `Version ${version.version}`
            : `Version ${version.version} → ${workflow.version}`
      }
    >
      <div className="flex flex-col gap-2 p-4">
        <ProblemNote error={error} />
        {version === undefined && error === null && <SkeletonRows />}
        {version !== undefined && (
          <>
            <p className="text-xs text-ink-soft">
              {isCurrent ? 'The current version.' : 'What has changed since then, up to the current version.'}
            </p>
            <CodeView
              key={`${deploymentId} ${workflow.deployment_id}`}
              label={`Version ${version.version}`}
              language="json"
              value={textOf(workflow)}
              {...(isCurrent ? {} : { original: textOf(version) })}
            />
            {workflow.steps.map(({ namespace, component_id: now }) => {
              const before = version.steps.find((step) => step.namespace === namespace)?.component_id;
              if (before === undefined || before === now) return null;
              return <CodeDiff key={namespace} namespace={namespace} before={before} now={now} />;
            })}
          </>
        )}
      </div>
    </Panel>
  );
}

/** The code of a step that has another component now. */
function CodeDiff({ namespace, before, now }: { namespace: string; before: string; now: string }) {
  const old = useQuery(componentQuery(before));
  const current = useQuery(componentQuery(now));
  const error = old.error ?? current.error;
  if (error !== null) return <ProblemNote error={error} />;
  if (old.data === undefined || current.data === undefined) return <SkeletonRows rows={3} />;
  return (
    <div className="flex flex-col gap-1">
      <h3 className="text-sm font-medium">Code of {namespace}</h3>
      <CodeView
        label={`Code of ${namespace}`}
        language="typescript"
        value={current.data.code}
        original={old.data.code}
      />
    </div>
  );
}

/** Text of a version, without members that are the same in all versions or derived from others. */
function textOf({ triggers, steps, settings }: Workflow): string {
  const starts = triggers.map((trigger) =>
    Object.fromEntries(Object.entries(trigger).filter(([name]) => name !== 'endpoint_url')),
  );
  const shown = steps.map(({ namespace, component_id, props, retries, on_error }) => ({
    namespace,
    component_id,
    props,
    retries,
    on_error,
  }));
  return JSON.stringify({ triggers: starts, steps: shown, settings }, undefined, 2);
}
