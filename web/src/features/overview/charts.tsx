import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ProblemNote } from '../../ui/problem.tsx';
import { type Measure, MeasurePanel } from './measure-panel.tsx';
import { type Range, RANGES, seriesQuery } from './stat-queries.ts';

interface AccountMeasure extends Measure {
  /** The rows behind its number. */
  rows: '/events' | '/webhooks' | '#emitters' | '#webhooks';
}

const MEASURES: readonly AccountMeasure[] = [
  { title: 'Received', counters: [{ counter: 'received', name: 'events', color: '--accent' }], rows: '/events' },
  {
    title: 'Runs',
    counters: [
      { counter: 'runs_ok', name: 'ok', color: '--accent' },
      { counter: 'runs_failed', name: 'failed', color: '--bad' },
    ],
    rows: '#emitters',
  },
  {
    title: 'Delivered',
    counters: [{ counter: 'delivered', name: 'deliveries', color: '--accent' }],
    rows: '/webhooks',
  },
  {
    title: 'Failed attempts',
    counters: [
      { counter: 'failed_attempts', name: 'failed', color: '--warn' },
      { counter: 'exhausted', name: 'given up', color: '--bad' },
    ],
    rows: '#webhooks',
  },
];

export function Charts({ range }: { range: Range }) {
  const { data, error } = useQuery(seriesQuery(range));
  return (
    <>
      <ProblemNote error={error} />
      <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
        {MEASURES.map((measure) => (
          <MeasurePanel
            key={measure.title}
            measure={measure}
            range={range}
            series={data}
            rowsLink={({ className, children }) => (
              <RowsLink rows={measure.rows} range={range} className={className}>
                {children}
              </RowsLink>
            )}
          />
        ))}
      </div>
    </>
  );
}

interface RowsLinkProps {
  rows: AccountMeasure['rows'];
  range: Range;
  className: string;
  children: ReactNode;
}

function RowsLink({ rows, range, className, children }: RowsLinkProps) {
  if (rows === '/events') {
    return (
      <Link to={rows} search={{ range: RANGES[range].time }} className={className}>
        {children}
      </Link>
    );
  }
  if (rows === '/webhooks') {
    return (
      <Link to={rows} className={className}>
        {children}
      </Link>
    );
  }
  return (
    <Link to="/" search={range === 'hour' ? {} : { range }} hash={rows.slice(1)} className={className}>
      {children}
    </Link>
  );
}
