import { useInfiniteQuery } from '@tanstack/react-query';
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { listCommand } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Empty, NoMatch } from '../../ui/empty.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { QueryBox } from '../../ui/search-box.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useEmitterNames } from '../events/emitter-names.ts';
import { ActivityOf } from '../overview/activity-of.tsx';
import { type WorkflowSummary, workflowsQuery } from './workflow-queries.ts';

const COLUMNS: readonly Column<WorkflowSummary>[] = [
  {
    header: 'Name',
    cell: ({ name }) => <span className="font-medium">{name}</span>,
    className: 'md:w-1/3',
    wraps: true,
  },
  {
    header: 'State',
    cell: ({ active }) => <Status of={active ? 'active' : 'inactive'} />,
    className: 'w-28 @max-2xl:w-24',
  },
  { header: 'Started by', cell: ({ triggers }) => <StartedBy triggers={triggers} />, wide: true },
  {
    header: 'Last hour',
    cell: ({ id, name }) => <ActivityOf kind="emitters" id={id} name={name} />,
    className: 'w-32',
    wide: true,
  },
  { header: 'Version', cell: ({ version }) => version, className: 'w-20 tabular-nums', wide: true },
  { header: 'Changed', cell: ({ updated_at: at }) => <Time atMs={at * 1000} />, className: 'w-28 text-ink-soft' },
];

type Trigger = WorkflowSummary['triggers'][number];

function StartedBy({ triggers }: { triggers: readonly Trigger[] }) {
  const names = useEmitterNames();
  const text = triggers.length === 0 ? 'by hand' : triggers.map((trigger) => triggerText(trigger, names)).join(', ');
  return <span className={classNames('text-ink-soft', isCode(triggers) && 'font-mono text-xs')}>{text}</span>;
}

const isCode = (triggers: readonly Trigger[]) =>
  triggers.some(({ type, cron }) => type === 'http' || cron !== undefined);

/** Shows a source by its name if it is known, else by its id. */
export function triggerText(
  { type, endpoint_url, cron, interval_seconds, source_id = '' }: Trigger,
  names: ReadonlyMap<string, string>,
): string {
  if (type === 'http') return endpoint_url ?? 'HTTP';
  if (type === 'source') return `events of ${names.get(source_id) ?? source_id}`;
  return cron === undefined ? `every ${interval_seconds} s` : `cron ${cron}`;
}

export function WorkflowList() {
  const { q = '', action } = useSearch({ from: '/shell/workflows' });
  const navigate = useNavigate({ from: '/workflows' });
  const list = useInfiniteQuery(workflowsQuery(q));
  const all = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const newWorkflow = (
    <Button kind="primary" onClick={() => void navigate({ to: '/workflows/new' })}>
      <Icon name="plus" />
      New workflow
    </Button>
  );
  return (
    <Page
      title="Workflows"
      actions={
        <>
          <QueryBox
            value={q}
            label="Search workflows"
            onChange={(text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true })}
          />
          <CopyMenu command={listCommand('workflows', q)} />
          {newWorkflow}
        </>
      }
    >
      <Paged
        list={list}
        count={all.length}
        empty={
          q === '' ? (
            <Empty
              icon="workflow"
              title="No workflows yet"
              action={newWorkflow}
              command="hw workflows create workflow.json"
            >
              A workflow runs steps on each event: a request, a tick of a timer, or an event of a source.
            </Empty>
          ) : (
            <NoMatch noun="workflow" text={q} places="names and ids" onClear={() => void navigate({ search: {} })} />
          )
        }
      >
        <Table
          label="Workflows"
          columns={COLUMNS}
          rows={all}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: '/workflows/$id', params: { id } })}
        />
      </Paged>
      {action === 'create' && <Navigate to="/workflows/new" replace />}
    </Page>
  );
}
