import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Panel } from '../../ui/page.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { type Range, RANGES, type Subject, subjectsQuery } from './stat-queries.ts';

const SHOWN = 8;

/** A source does not fail because a receiver does. */
const failuresOf = ({ type, totals }: Subject) => (type === 'webhook' ? totals.failed_attempts : totals.runs_failed);

/** Links to the failures, or without any, to the events. */
function placeOf(subject: Subject, range: Range) {
  const { id, type, totals } = subject;
  const params = { id };
  const { time } = RANGES[range];
  // A retry may have succeeded after a failed attempt: only abandoned deliveries are `failed`.
  const given = totals.exhausted > 0 ? { status: 'failed' } : {};
  if (type === 'webhook') return { to: '/webhooks/$id', params, search: { range: time, ...given } } as const;
  const failed = totals.runs_failed > 0;
  if (type === 'workflow') return { to: '/workflows/$id', params, search: failed ? { status: 'failed' } : {} } as const;
  return { to: '/sources/$id', params, search: { tab: failed ? 'logs' : 'events' } } as const;
}

function nameColumn(header: string, range: Range): Column<Subject> {
  return {
    header,
    cell: (subject) => (
      <Link {...placeOf(subject, range)} className="font-medium" onClick={(event) => event.stopPropagation()}>
        {subject.name}
      </Link>
    ),
  };
}

const STATE: Column<Subject> = {
  header: 'State',
  cell: (subject) => <Status of={failuresOf(subject) > 0 ? 'failed' : 'ok'} label={stateOf(subject)} />,
  className: 'w-28',
};

function stateOf(subject: Subject): string {
  const failures = failuresOf(subject);
  return failures === 0 ? 'ok' : `${failures.toLocaleString()} failed`;
}

const ACTIVITY: Column<Subject> = {
  header: 'Activity',
  cell: ({ name, activity, failures }) => (
    <Sparkline activity={activity} failures={failures} label={`Activity of ${name}`} />
  ),
  className: 'w-32',
  wide: true,
};

const number = 'w-24 text-right tabular-nums';

const EMITTER_COLUMNS: readonly Column<Subject>[] = [
  STATE,
  { header: 'Received', cell: ({ totals }) => totals.received.toLocaleString(), className: number },
  { header: 'Emitted', cell: ({ totals }) => totals.emitted.toLocaleString(), className: number, wide: true },
  ACTIVITY,
];

const WEBHOOK_COLUMNS: readonly Column<Subject>[] = [
  STATE,
  { header: 'Delivered', cell: ({ totals }) => totals.delivered.toLocaleString(), className: number },
  { header: 'Given up', cell: ({ totals }) => totals.exhausted.toLocaleString(), className: number, wide: true },
  ACTIVITY,
];

/** The most failures first. */
export function Rankings({ range }: { range: Range }) {
  return (
    <>
      <Ranking
        id="emitters"
        kind="emitters"
        title="Sources and workflows"
        range={range}
        columns={[nameColumn('Source or workflow', range), ...EMITTER_COLUMNS]}
      />
      <Ranking
        id="webhooks"
        kind="webhooks"
        title="Webhooks"
        range={range}
        columns={[nameColumn('Webhook', range), ...WEBHOOK_COLUMNS]}
      />
    </>
  );
}

interface RankingProps {
  id: string;
  kind: 'emitters' | 'webhooks';
  title: string;
  range: Range;
  columns: readonly Column<Subject>[];
}

function Ranking({ id, kind, title, range, columns }: RankingProps) {
  const { data } = useQuery(subjectsQuery(kind, range, SHOWN));
  const navigate = useNavigate();
  return (
    <div id={id} className="scroll-mt-4">
      <Panel title={`${title}, failing first`}>
        {data === undefined && <SkeletonRows rows={3} />}
        {data?.length === 0 && (
          <p className="p-4 text-sm text-ink-soft">Nothing happened here in {RANGES[range].words}.</p>
        )}
        {data !== undefined && data.length > 0 && (
          <Table
            label={`${title}, failing first`}
            columns={columns}
            rows={data}
            keyOf={(subject) => subject.id}
            onOpen={(subject) => void navigate(placeOf(subject, range))}
          />
        )}
      </Panel>
    </div>
  );
}
