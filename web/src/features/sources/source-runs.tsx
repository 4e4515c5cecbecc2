import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { AbandonedNote } from '../runs/abandoned-note.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Paged } from '../../ui/paged.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { formatDuration, Time } from '../../ui/time.tsx';
import { FirstRunOfSource } from './first-run-of-source.tsx';
import { runsQuery, type Source } from './source-queries.ts';

type Run = Schemas['Run'];

const COLUMNS: readonly Column<Run>[] = [
  { header: 'Status', cell: ({ status }) => <Status of={status} />, className: 'w-24' },
  { header: 'Id', cell: ({ id }) => <span className="font-mono text-xs">{id}</span> },
  { header: 'Came of it', cell: outcomeOf, wide: true },
  { header: 'Kind', cell: ({ kind }) => kind, className: 'w-28 text-ink-soft', wide: true },
  { header: 'Started', cell: ({ started_at_ms: at }) => <Time atMs={at} />, className: 'w-28 text-ink-soft' },
  {
    header: 'Took',
    cell: ({ started_at_ms: from, ended_at_ms: to }) => formatDuration(to - from),
    className: 'w-24 text-ink-soft tabular-nums',
    wide: true,
  },
];

function outcomeOf({ error, emitted, deduped, logs, truncated }: Run): string {
  if (error !== null) return error.message;
  const logged = logs.length > 0 || truncated !== undefined ? ', logged' : '';
  if (emitted === null) return `not counted${logged}`;
  if (emitted === 0 && !deduped) return `emitted nothing${logged}`;
  return `${emitted} emitted${deduped ? `, ${deduped} dropped by dedupe` : ''}${logged}`;
}

/** Runs that no event leads to, and those that logged or failed. */
export function SourceRuns({ source }: { source: Source }) {
  const navigate = useNavigate({ from: '/sources/$id' });
  const list = useInfiniteQuery(runsQuery(source.id));
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className="flex flex-col gap-4">
      <AbandonedNote sourceId={source.id} />
      <Paged
        list={list}
        count={rows.length}
        empty={
          <Empty
            icon="trace"
            title="No runs yet"
            command={`hw runs recent ${source.name_slug}`}
            action={<FirstRunOfSource source={source} />}
          >
            Runs that emitted nothing, or only what dedupe dropped, appear here, and those that logged or failed. The
            others are among the events.
          </Empty>
        }
      >
        <Table
          label="Runs"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: '/traces/$id', params: { id } })}
        />
      </Paged>
    </div>
  );
}
