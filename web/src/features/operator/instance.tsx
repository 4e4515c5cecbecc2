import { useQuery } from '@tanstack/react-query';
import { CopyMenu } from '../../ui/copy.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { metricsQuery, type NodeRecord, nodesQuery } from './operator-queries.ts';

/** Without a heartbeat for so long a node counts as dead. */
const DEAD_AFTER_MS = 10_000;

const isAlive = ({ seen_at: seenAt }: NodeRecord) => Date.now() - seenAt < DEAD_AFTER_MS;

const COLUMNS: readonly Column<NodeRecord>[] = [
  { header: 'Node', cell: ({ id }) => <code className="font-mono text-xs">{id}</code> },
  {
    header: 'State',
    cell: (node) => <Status of={isAlive(node) ? 'active' : 'failed'} label={isAlive(node) ? 'alive' : 'silent'} />,
    className: 'w-28',
  },
  { header: 'Role', cell: ({ role }) => role, className: 'w-20', wide: true },
  {
    header: 'Started',
    cell: ({ started_at: at }) => <Time atMs={at} />,
    className: 'w-28 text-ink-soft',
    wide: true,
  },
  { header: 'Seen', cell: ({ seen_at: at }) => <Time atMs={at} />, className: 'w-28 text-ink-soft', wide: true },
];

export function Nodes() {
  const { data, error } = useQuery(nodesQuery());
  return (
    <Panel title="Nodes" actions={<CopyMenu command={{ path: '/v1/nodes', hw: 'hw server nodes' }} />}>
      <ProblemNote error={error} />
      {data === undefined && error === null && <SkeletonRows rows={1} />}
      {data !== undefined && <Table label="Nodes" columns={COLUMNS} rows={data} keyOf={({ id }) => id} />}
    </Panel>
  );
}

const FIGURES: readonly (readonly [metric: string, label: string])[] = [
  ['headwater_runs_waiting', 'Runs waiting'],
  ['headwater_runs_in_flight', 'Runs in flight'],
  ['headwater_runs_committing', 'Runs committing'],
  ['headwater_executions_waiting', 'Executions that wait'],
  ['headwater_deliveries_held', 'Deliveries waiting'],
  ['headwater_deliveries_in_flight', 'Deliveries in flight'],
  ['headwater_sandbox_processes', 'Sandbox processes'],
  ['headwater_sandbox_crashes', 'Sandbox crashes'],
];

/** Queues and sandbox processes of the node that answers this page. */
export function Queues() {
  const { data } = useQuery(metricsQuery());
  if (data === null) return null;
  return (
    <Panel title="Queues and sandbox processes of this node">
      <dl className="grid grid-cols-2 gap-px bg-line md:grid-cols-4">
        {FIGURES.map(([metric, label]) => (
          <div key={metric} className="bg-surface p-4">
            <dt className="text-xs text-ink-soft">{label}</dt>
            <dd className="text-xl font-semibold tabular-nums">
              {data === undefined ? '…' : (data.get(metric) ?? 0).toLocaleString()}
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
