import { Fragment, lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Panel } from '../../ui/page.tsx';
import { requireKnownLanguage } from './known-language.ts';
import { type Counter, type Range, RANGES, type Series } from './stat-queries.ts';

const TimeChart = lazy(() => {
  requireKnownLanguage();
  return import('./time-chart.tsx').then((module) => ({ default: module.TimeChart }));
});

export interface Measure {
  title: string;
  counters: readonly { counter: Counter; name: string; color: string }[];
}

interface RowsLinkProps {
  counter: Counter;
  className: string;
  children: ReactNode;
}

interface MeasurePanelProps {
  measure: Measure;
  range: Range;
  series: Series | undefined;
  /** A link to the rows behind the number of a counter. */
  rowsLink: (props: RowsLinkProps) => ReactNode;
  actions?: ReactNode;
}

/** The counters of one measure over time: as a picture, or as a table. */
export function MeasurePanel({ measure, range, series, rowsLink, actions }: MeasurePanelProps) {
  const { title, counters } = measure;
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
        <>
          {actions}
          <Button size="small" kind="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
            Table<span className="sr-only"> of {title}</span>
          </Button>
        </>
      }
    >
      <p className="flex flex-wrap items-baseline gap-x-3 px-4 pt-3 pb-1">
        {counters.map(({ counter, name }, index) => (
          <Fragment key={counter}>
            {rowsLink({
              counter,
              className: classNames('tabular-nums', index === 0 ? 'text-xl font-semibold' : 'text-sm font-medium'),
              children: (
                <>
                  {(series?.totals[counter] ?? 0).toLocaleString()}{' '}
                  <span className="text-sm font-normal text-ink-soft">{name}</span>
                </>
              ),
            })}
          </Fragment>
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
