import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { requireKnownLanguage } from './known-language.ts';
import { type Counter, type Range, RANGES, type Series, seriesQuery } from './stat-queries.ts';

const TimeChart = lazy(() => {
  requireKnownLanguage();
  return import('./time-chart.tsx').then((module) => ({ default: module.TimeChart }));
});

interface Measure {
  title: string;
  counters: readonly { counter: Counter; name: string; color: string }[];
  /** The rows behind its number. */
  rows: '/events' | '/webhooks' | '#emitters' | '#webhooks';
}

const MEASURES: readonly Measure[] = [
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
          <MeasurePanel key={measure.title} measure={measure} range={range} series={data} />
        ))}
      </div>
    </>
  );
}

function MeasurePanel({ measure, range, series }: { measure: Measure; range: Range; series: Series | undefined }) {
  const { title, counters, rows } = measure;
  const [isTable, setTable] = useState(false);
  const at = useMemo(() => series?.buckets.map((bucket) => bucket.at) ?? [], [series]);
  const shown = useMemo(
    () =>
      counters.map(({ counter, name, color }) => ({
        name,
        color,
        values: series?.buckets.map((bucket) => bucket[counter]) ?? [],
      })),
    [counters, series],
  );
  const words = counters.map(({ counter, name }) => `${series?.totals[counter] ?? 0} ${name}`);
  return (
    <Panel
      title={title}
      actions={
        <Button size="small" kind="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          Table<span className="sr-only"> of {title}</span>
        </Button>
      }
    >
      <p className="flex flex-wrap items-baseline gap-x-3 px-4 pt-3 pb-1">
        <RowsLink rows={rows} range={range} className="text-xl font-semibold tabular-nums">
          {(series?.totals[counters[0]?.counter ?? 'received'] ?? 0).toLocaleString()}{' '}
          <span className="text-sm font-normal text-ink-soft">{counters[0]?.name}</span>
        </RowsLink>
        {counters.slice(1).map(({ counter, name }) => (
          <RowsLink key={counter} rows={rows} range={range} className="text-sm text-ink-soft">
            <span className="font-medium tabular-nums">{(series?.totals[counter] ?? 0).toLocaleString()}</span> {name}
          </RowsLink>
        ))}
        <span className="ml-auto text-xs text-ink-faint">{RANGES[range].words}</span>
      </p>
      {isTable ? (
        <BucketTable title={title} measure={measure} series={series} />
      ) : (
        <Suspense fallback={<div className="h-38" />}>
          <TimeChart label={`${title}: ${words.join(', ')} in ${RANGES[range].words}`} at={at} series={shown} />
        </Suspense>
      )}
    </Panel>
  );
}

interface RowsLinkProps {
  rows: Measure['rows'];
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

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** The same in words and numbers: newest first, times in which nothing happened left out. */
function BucketTable(props: { title: string; measure: Measure; series: Series | undefined }) {
  const { title, measure, series } = props;
  const { counters } = measure;
  const active = (series?.buckets ?? []).filter((bucket) => counters.some(({ counter }) => bucket[counter] > 0));
  if (active.length === 0) return <p className="h-38 px-4 text-sm text-ink-soft">Nothing in this time.</p>;
  return (
    <div className="h-38 overflow-y-auto" tabIndex={0} role="region" aria-label={`Table of ${title}`}>
      <table aria-label={title} className="w-full text-sm">
        <thead className="sticky top-0 bg-surface text-left text-xs text-ink-faint">
          <tr>
            <th scope="col" className="px-4 py-1 font-medium">
              From
            </th>
            {counters.map(({ counter, name }) => (
              <th key={counter} scope="col" className="px-4 py-1 text-right font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {active.toReversed().map((bucket) => (
            <tr key={bucket.at}>
              <td className="px-4 py-1 tabular-nums">{clock.format(bucket.at)}</td>
              {counters.map(({ counter }) => (
                <td key={counter} className="px-4 py-1 text-right tabular-nums">
                  {bucket[counter].toLocaleString()}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
