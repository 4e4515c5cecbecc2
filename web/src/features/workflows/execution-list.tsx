import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FILTER_CLASS } from '../../ui/field.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Paged } from '../../ui/paged.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { TimeRange, timesOf } from '../../ui/time-range.tsx';
import { formatDuration, Time } from '../../ui/time.tsx';
import { ExecutionsByTime } from './executions-by-time.tsx';
import { ReplayFailed } from './replay-failed.tsx';
import { ENDED_WELL, type Execution, executionCountQuery, executionsQuery } from './workflow-queries.ts';

const STATUSES = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'exited', 'cancelled'] as const;

const COLUMNS: readonly Column<Execution>[] = [
  { header: 'Status', cell: ({ status }) => <Status of={status} />, className: 'w-32' },
  { header: 'Id', cell: ({ id }) => <span className="font-mono text-xs">{id}</span> },
  { header: 'Reason', cell: ({ error, reason }) => error?.message ?? reason ?? '', under: 'Id' },
  {
    header: 'Started',
    cell: ({ started_at: at }) => (at === null ? 'not yet' : <Time atMs={at} />),
    className: 'w-28 text-ink-soft',
  },
  {
    header: 'Took',
    cell: ({ started_at: from, ended_at: to }) => (from === null || to === null ? '' : formatDuration(to - from)),
    className: 'w-24 text-ink-soft tabular-nums',
    wide: true,
  },
];

/** Statuses of executions that are not finished. */
const WAITING = ['queued', 'running', 'waiting'] as const;

/** How many there are, which leads to them; nothing where there are none. */
function WaitingCount({ workflowId, status }: { workflowId: string; status: (typeof WAITING)[number] }) {
  const navigate = useNavigate({ from: '/workflows/$id' });
  const { data } = useQuery(executionCountQuery(workflowId, status));
  const count = data ?? 0;
  if (count === 0) return null;
  return (
    <Button size="small" onClick={() => void navigate({ search: (search) => ({ ...search, status }), replace: true })}>
      {count} {status}
    </Button>
  );
}

/** Epoch milliseconds, or a time as text. */
const msOf = (time: string) => (/^\d+$/.test(time) ? Number(time) : Date.parse(time));

function titleOfNone(status: string | undefined, times: object): string {
  const isAnyTime = Object.keys(times).length === 0;
  if (status === undefined) return isAnyTime ? 'It has not run yet' : 'No execution of this time';
  return `No execution${isAnyTime ? '' : ' of this time'} is ${status.replace(',', ' or ')}`;
}

interface ExecutionListProps {
  workflowId: string;
  /** Opens the dialog that runs the workflow. */
  onRun: () => void;
}

export function ExecutionList({ workflowId, onRun }: ExecutionListProps) {
  const { status, time, since, until } = useSearch({ from: '/shell/workflows/$id' });
  const navigate = useNavigate({ from: '/workflows/$id' });
  const wanted = [...STATUSES, ENDED_WELL].find((one) => one === status);
  const asked = { range: time, since, until };
  const times = timesOf(asked);
  const list = useInfiniteQuery(
    executionsQuery(workflowId, {
      ...(wanted === undefined ? {} : { status: wanted }),
      ...(times.since === undefined ? {} : { since_ms: msOf(times.since) }),
      ...(times.until === undefined ? {} : { until_ms: msOf(times.until) }),
    }),
  );
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className="flex flex-col gap-4">
      <ExecutionsByTime workflowId={workflowId} />
      <FilterBar label="Filter executions">
        <select
          aria-label="Status"
          className={FILTER_CLASS}
          value={wanted ?? ''}
          onChange={({ target }) =>
            void navigate({
              search: (search) => ({ ...search, status: target.value === '' ? undefined : target.value }),
              replace: true,
            })
          }
        >
          <option value="">All statuses</option>
          {STATUSES.map((one) => (
            <option key={one}>{one}</option>
          ))}
          <option value={ENDED_WELL}>succeeded or exited</option>
        </select>
        <TimeRange
          value={asked}
          onChange={({ range, ...bounds }) =>
            void navigate({
              search: (search) => ({ ...search, since: undefined, until: undefined, ...bounds, time: range }),
              replace: true,
            })
          }
        />
        {WAITING.map((one) => (
          <WaitingCount key={one} workflowId={workflowId} status={one} />
        ))}
        <span className="ml-auto max-sm:col-span-full max-sm:text-right">
          <ReplayFailed workflowId={workflowId} />
        </span>
      </FilterBar>
      <Paged
        list={list}
        count={rows.length}
        empty={
          <Empty
            icon="workflow"
            title={titleOfNone(wanted, times)}
            command={`hw workflows run ${workflowId}`}
            action={
              wanted === undefined && Object.keys(times).length === 0 ? (
                <Button kind="primary" onClick={onRun}>
                  Run it once
                </Button>
              ) : (
                <Button onClick={() => void navigate({ search: {} })}>Show all executions</Button>
              )
            }
          >
            Executions appear here as they begin: by a run of yours, or by an event of a trigger.
          </Empty>
        }
      >
        <Table
          label="Executions"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: '/executions/$id', params: { id } })}
        />
      </Paged>
    </div>
  );
}
