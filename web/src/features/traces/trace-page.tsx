import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type KeyboardEvent, type SubmitEvent, useMemo, useState } from 'react';
import { api } from '../../api/client.ts';
import { writeExact } from '../../api/exact-json.ts';
import { Beside, CloseDetail } from '../../ui/beside.tsx';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { CopyButton, CopyMenu } from '../../ui/copy.tsx';
import { TextField } from '../../ui/field.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { useLongList } from '../../ui/long-list.ts';
import { Page, Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Stack } from '../../ui/stack.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { formatDuration, Time } from '../../ui/time.tsx';
import { useEmitterNames } from '../events/emitter-names.ts';
import { searchQuery } from '../events/event-queries.ts';
import { NoEvents } from '../events/no-events.tsx';
import type { LiveEvent } from '../events/use-live-events.ts';
import { type Span, timeRange, type TraceRow, traceRows } from './trace-rows.ts';

const NEWEST = 20;
const PREVIEW_CHARS = 200;
/** On a screen that is wide; a phone's are measured. */
const ROW_PX = 36;

/** Asks for an id, and goes to its trace. */
export function TraceSearch() {
  const [id, setId] = useState('');
  const navigate = useNavigate();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void navigate({ to: '/traces/$id', params: { id: id.trim() } });
  };
  return (
    <Page title="Traces">
      <form onSubmit={submit} className="flex max-w-xl flex-col gap-3">
        <TextField
          label="Id"
          value={id}
          onChange={({ target }) => setId(target.value)}
          required
          className="font-mono"
          description="The id of a run (inv_…), of an execution (exec_…) or of an event."
        />
        <Button type="submit" kind="primary" needs={null} className="self-start">
          Show trace
        </Button>
      </form>
      <NewestEvents />
    </Page>
  );
}

/** For those who have no id: what came in last, each with its trace. */
function NewestEvents() {
  const navigate = useNavigate();
  const names = useEmitterNames();
  const list = useInfiniteQuery(searchQuery({}));
  const rows = list.data?.pages[0]?.data.slice(0, NEWEST) ?? [];
  const columns: readonly Column<LiveEvent>[] = [
    {
      header: 'Event',
      cell: ({ event, metadata }) => metadata.summary ?? writeExact(event, 0).slice(0, PREVIEW_CHARS),
    },
    {
      header: 'Emitter',
      cell: ({ metadata: { emitter_id: id } }) => names.get(id) ?? id,
      className: 'w-1/4 text-ink-soft',
      wide: true,
    },
    {
      header: 'Stored',
      cell: ({ indexed_at_ms: at }) => <Time atMs={at} />,
      className: 'w-28 text-ink-soft',
    },
  ];
  return (
    <Panel title="Newest events">
      <ProblemNote error={list.error} />
      {list.isPending && <SkeletonRows rows={4} />}
      {list.isSuccess && rows.length === 0 && (
        <NoEvents icon="trace" title="No traces yet">
          Each event has a trace: what brought it, and what became of it at each listener.
        </NoEvents>
      )}
      {rows.length > 0 && (
        <Table
          label="Newest events"
          columns={columns}
          rows={rows}
          keyOf={({ metadata }) => metadata.emit_id}
          onOpen={({ metadata }) => void navigate({ to: '/traces/$id', params: { id: metadata.emit_id } })}
        />
      )}
    </Panel>
  );
}

/** Everything that followed from one request, on one time axis; each part opens beside it. */
export function TracePage() {
  const { id } = useParams({ from: '/shell/traces/$id' });
  const { node } = useSearch({ from: '/shell/traces/$id' });
  const navigate = useNavigate({ from: '/traces/$id' });
  const trace = useQuery({
    queryKey: ['trace', id],
    queryFn: ({ signal }) => api.get('/v1/traces/{id}', { path: { id }, signal }).then(({ data }) => data),
  });
  const rows = useMemo(() => traceRows(trace.data?.runs ?? []), [trace.data]);
  const chosen = rows.find(({ key }) => key === node);
  const select = (key: string | undefined) => void navigate({ search: { node: key }, replace: node !== undefined });
  return (
    <Page
      title="Trace"
      aside={<span className="font-mono text-xs text-ink-faint">{id}</span>}
      actions={<TraceActions id={id} onRefresh={() => void trace.refetch()} />}
    >
      <ProblemNote error={trace.error}>
        <Link to="/traces" className="mt-1 inline-block text-accent underline">
          Newest events and their traces
        </Link>
      </ProblemNote>
      {trace.isPending && <SkeletonRows />}
      {trace.data?.truncated === true && (
        <p className="text-sm text-warn">There is more than is shown: see the limits in docs/traces.md.</p>
      )}
      {rows.length > 0 && (
        <Beside
          from="xl"
          className="items-start"
          title="Part of the trace"
          onClose={() => select(undefined)}
          detail={chosen && <RowDetail row={chosen} onClose={() => select(undefined)} />}
        >
          <TracePicture rows={rows} selected={node} onSelect={select} />
        </Beside>
      )}
    </Page>
  );
}

function TraceActions({ id, onRefresh }: { id: string; onRefresh: () => void }) {
  return (
    <>
      <Button onClick={onRefresh}>
        <Icon name="retry" />
        Refresh
      </Button>
      <CopyMenu command={{ path: `/v1/traces/${id}`, hw: `hw trace ${id}` }} />
    </>
  );
}

const ICONS: Record<TraceRow['kind'], IconName> = {
  run: 'source',
  execution: 'workflow',
  step: 'play',
  event: 'event',
  delivery: 'webhook',
  missed: 'dash',
  deduped: 'dash',
  send: 'link',
};

interface TracePictureProps {
  rows: readonly TraceRow[];
  selected: string | undefined;
  onSelect: (key: string) => void;
}

function TracePicture({ rows, selected, onSelect }: TracePictureProps) {
  const range = timeRange(rows);
  const {
    list,
    rows: drawn,
    restPx,
    measure,
    isLong,
  } = useLongList<HTMLDivElement>({
    count: rows.length,
    rowPx: ROW_PX,
    keyOf: (index) => (rows[index] as TraceRow).key,
  });
  const onKeyDown = (event: KeyboardEvent<HTMLElement>, row: TraceRow) => {
    const step = {
      j: 'nextElementSibling',
      ArrowDown: 'nextElementSibling',
      k: 'previousElementSibling',
      ArrowUp: 'previousElementSibling',
    }[event.key] as 'nextElementSibling' | 'previousElementSibling' | undefined;
    if (event.key === 'Enter') onSelect(row.key);
    if (step === undefined) return;
    event.preventDefault();
    (event.currentTarget[step] as HTMLElement | null)?.focus();
  };
  return (
    <Panel title={`Took ${formatDuration(range.toMs - range.fromMs)}`}>
      <div
        role="table"
        aria-label="Trace"
        aria-rowcount={isLong ? rows.length : undefined}
        className="overflow-x-auto overflow-y-hidden text-sm"
      >
        <div ref={list} role="rowgroup" className="flow-root sm:min-w-150" style={{ paddingBottom: restPx }}>
          {drawn.map(({ index, gapPx }) => {
            const row = rows[index] as TraceRow;
            return (
              <div
                key={row.key}
                ref={measure}
                data-index={index}
                role="row"
                aria-rowindex={isLong ? index + 1 : undefined}
                style={{ marginTop: gapPx }}
                tabIndex={0}
                aria-selected={row.key === selected}
                onClick={() => onSelect(row.key)}
                onKeyDown={(event) => onKeyDown(event, row)}
                className={classNames(
                  'grid h-14 cursor-pointer grid-cols-[minmax(0,1fr)_auto_auto] items-center gap-x-3 border-b border-line px-3 -outline-offset-2 hover:bg-sunken sm:h-9 sm:grid-cols-[minmax(0,1.3fr)_6.5rem_minmax(0,1fr)_4.5rem]',
                  row.key === selected && 'bg-accent-soft',
                )}
              >
                <span role="cell" className="flex min-w-0 items-center gap-2" style={{ paddingLeft: row.depth * 18 }}>
                  <Icon name={ICONS[row.kind]} className="size-3.5 text-ink-faint" />
                  <span className="truncate">{row.label}</span>
                </span>
                <span role="cell">{row.status !== undefined && <Status of={row.status} />}</span>
                <span role="cell" className="relative h-full max-sm:order-last max-sm:col-span-full max-sm:h-4">
                  <Bars row={row} range={range} />
                </span>
                <span role="cell" className="text-right text-xs text-ink-faint tabular-nums">
                  {row.spans.length > 0 && formatDuration(workedMs(row))}
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </Panel>
  );
}

/** Without the wait before it began. */
function workedMs({ spans }: TraceRow): number {
  return spans.filter(({ tone }) => tone !== 'wait').reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
}

const TONES: Record<Span['tone'], string> = {
  run: 'bg-accent',
  good: 'bg-good',
  bad: 'bg-bad',
  wait: 'border border-dashed border-line-strong bg-transparent',
};

/** In percent of the whole; what is too short to see has a width all the same. */
function Bars({ row, range }: { row: TraceRow; range: { fromMs: number; toMs: number } }) {
  const share = (ms: number) => ((ms - range.fromMs) / (range.toMs - range.fromMs)) * 99;
  return (
    <>
      {row.spans.map((span, index) => (
        <span
          key={`${span.fromMs} ${index}`}
          title={formatDuration(span.toMs - span.fromMs)}
          className={classNames('absolute top-1/2 h-2.5 min-w-1 -translate-y-1/2 rounded-xs', TONES[span.tone])}
          style={{ left: `${share(span.fromMs)}%`, width: `${Math.max(share(span.toMs) - share(span.fromMs), 0.6)}%` }}
        />
      ))}
      {row.spans.length === 0 && row.atMs !== undefined && (
        <span
          className="absolute top-1/2 size-2 -translate-y-1/2 rotate-45 bg-ink-faint"
          style={{ left: `${share(row.atMs)}%` }}
        />
      )}
    </>
  );
}

function RowDetail({ row, onClose }: { row: TraceRow; onClose: () => void }) {
  const { error, logs = [], links = [] } = row;
  return (
    <Panel title={row.label} actions={<CloseDetail onClose={onClose} />}>
      <div className="flex flex-col gap-3 p-4 text-sm">
        <p className="flex items-center gap-1 font-mono text-xs text-ink-soft">
          <span className="truncate">{row.key}</span>
          <CopyButton text={row.key} what="id" />
        </p>
        {links.length > 0 && (
          <p className="flex flex-wrap gap-x-4 gap-y-1">
            {links.map(({ to, id, label }) => (
              <Link key={id} to={to} params={{ id }} title={id} className="text-accent underline">
                Open {label}
              </Link>
            ))}
          </p>
        )}
        {error !== null && error !== undefined && (
          <div className="rounded-md bg-bad-soft p-3">
            <p className="font-medium text-bad">{error.code}</p>
            <p className="break-words whitespace-pre-wrap">{error.message}</p>
            {error.stack !== null && <Stack text={error.stack} message={error.message} />}
          </div>
        )}
        {logs.length > 0 && (
          <ol aria-label="Log lines" className="rounded-md bg-sunken p-2 font-mono text-xs">
            {logs.map(({ at, message }, index) => (
              <li key={`${at} ${index}`} className="flex gap-2">
                <span className="text-ink-faint">
                  <Time atMs={at} form="clock" />
                </span>
                <span className="break-words whitespace-pre-wrap">{message}</span>
              </li>
            ))}
          </ol>
        )}
        <JsonTree key={row.key} value={row.detail} label="All of it" maxHeight={360} />
      </div>
    </Panel>
  );
}
