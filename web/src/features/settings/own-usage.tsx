import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { api } from '../../api/client.ts';
import type { components } from '@headwater/client';
import { Button } from '../../ui/button.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { requireKnownLanguage } from '../overview/known-language.ts';

const TimeChart = lazy(() => {
  requireKnownLanguage();
  return import('../overview/time-chart.tsx').then((module) => ({ default: module.TimeChart }));
});

type Day = components['schemas']['Usage']['days'][number];

const seconds = (ms: number) => `${(ms / 1000).toLocaleString(undefined, { maximumFractionDigits: 1 })} s`;
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

function inBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toLocaleString(undefined, { maximumFractionDigits: 1 })} ${UNITS[power]}`;
}

const number = (value: number) => value.toLocaleString();

const MEASURES = [
  { name: 'Requests', of: (day: Day) => day.requests, text: number, to: '/sources' },
  { name: 'Runs', of: (day: Day) => day.runs, text: number, to: '/runs' },
  { name: 'CPU time', of: (day: Day) => day.cpu_ms, text: seconds },
  { name: 'Events', of: (day: Day) => day.events, text: number, to: '/events' },
  { name: 'Deliveries', of: (day: Day) => day.deliveries, text: number, to: '/webhooks' },
  { name: 'Bytes in', of: (day: Day) => day.bytes_in, text: inBytes },
  { name: 'Bytes out', of: (day: Day) => day.bytes_out, text: inBytes },
  { name: 'Stored', of: (day: Day) => day.storage_bytes, text: inBytes },
] as const;

const RIGHT = 'text-right tabular-nums';
const COLUMNS: readonly Column<Day>[] = [
  { header: 'Day (UTC)', cell: ({ day }) => day },
  ...MEASURES.map(({ name, of, text }, at) => ({
    header: name,
    cell: (day: Day) => text(of(day)),
    className: RIGHT,
    wide: at > 2,
  })),
];

/** Usage of the account in the last 30 days: runs as a picture, all of it as a table. */
export function OwnUsage() {
  const { data, error } = useQuery({
    queryKey: ['own-usage'],
    queryFn: ({ signal }) => api.get('/v1/usage', { signal }).then((answer) => answer.data),
  });
  const [isTable, setTable] = useState(false);
  const days = data?.days ?? [];
  const at = useMemo(() => data?.days.map(({ day }) => Date.parse(day)) ?? [], [data]);
  const runs = data?.days.map((day) => day.runs) ?? [];
  const used = days.filter((day) => Object.values(day).some((value) => typeof value === 'number' && value > 0));
  return (
    <>
      <ProblemNote error={error} />
      <Panel
        title="Usage of the last 30 days"
        actions={
          <>
            <Button size="small" kind="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
              Table<span className="sr-only"> of usage</span>
            </Button>
            <CopyMenu command={{ path: '/v1/usage', hw: 'hw usage' }} />
          </>
        }
      >
        {data === undefined && error === null && <SkeletonRows />}
        {data !== undefined && (
          <dl className="grid grid-cols-2 gap-x-6 gap-y-3 p-4 sm:grid-cols-4">
            {MEASURES.map(({ name, of, text, ...row }) => (
              <div key={name}>
                <dt className="text-xs text-ink-soft">{name}</dt>
                <dd className="text-lg tabular-nums">
                  {'to' in row ? (
                    <Link to={row.to} className="underline decoration-line-strong hover:text-accent">
                      {text(of({ day: '', ...data.totals }))}
                    </Link>
                  ) : (
                    text(of({ day: '', ...data.totals }))
                  )}
                </dd>
              </div>
            ))}
          </dl>
        )}
        {data !== undefined && !isTable && (
          <Suspense fallback={<SkeletonRows rows={2} />}>
            <TimeChart label="Runs by day" at={at} series={[{ name: 'Runs', color: '--accent', values: runs }]} />
          </Suspense>
        )}
        {data !== undefined && isTable && (
          <Table label="Usage by day" columns={COLUMNS} rows={used.toReversed()} keyOf={({ day }) => day} />
        )}
      </Panel>
    </>
  );
}
