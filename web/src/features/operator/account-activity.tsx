import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { type AccountStats, accountStatsQuery } from './operator-queries.ts';

const number = 'w-24 text-right tabular-nums';

const COLUMNS: readonly Column<AccountStats>[] = [
  { header: 'Account', cell: ({ name }) => <span className="font-medium">{name}</span> },
  { header: 'Received', cell: ({ totals }) => totals.received.toLocaleString(), className: number },
  { header: 'Runs failed', cell: ({ totals }) => totals.runs_failed.toLocaleString(), className: number, wide: true },
  { header: 'Delivered', cell: ({ totals }) => totals.delivered.toLocaleString(), className: number, wide: true },
  {
    header: 'Attempts failed',
    cell: ({ totals }) => totals.failed_attempts.toLocaleString(),
    className: 'w-32 text-right tabular-nums',
    wide: true,
  },
  {
    header: 'Waiting',
    cell: (account) => (account.waiting_runs + account.waiting_deliveries).toLocaleString(),
    className: number,
  },
];

/** Noisy accounts are at the top; slow ones have much that waits. */
export function AccountActivity() {
  const { data, error } = useQuery(accountStatsQuery());
  const navigate = useNavigate();
  return (
    <Panel title="Activity of the last hour, most active accounts first">
      <ProblemNote error={error} />
      {data === undefined && error === null && <SkeletonRows rows={3} />}
      {data?.length === 0 && <p className="p-4 text-sm text-ink-soft">No account did anything in the last hour.</p>}
      {data !== undefined && data.length > 0 && (
        <Table
          label="Activity"
          columns={COLUMNS}
          rows={data}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: '/operator', search: { account: id } })}
        />
      )}
    </Panel>
  );
}
