import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Beside, CloseDetail } from '../../ui/beside.tsx';
import { Button } from '../../ui/button.tsx';
import { hwLine, isoOf } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Empty, STEP_CLASS } from '../../ui/empty.tsx';
import { FILTER_CLASS } from '../../ui/field.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Icon } from '../../ui/icons.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { TimeRange, timesOf } from '../../ui/time-range.tsx';
import { EmitterLink } from '../events/emitter-link.tsx';
import { useEmitterNames } from '../events/emitter-names.ts';
import { type AbandonedChoice, abandonedCountQuery, abandonedQuery, type AbandonedRun } from './abandoned-runs.ts';

const COLUMNS: readonly Column<AbandonedRun>[] = [
  { header: 'Source', cell: ({ source_id: id }) => <EmitterLink id={id} /> },
  { header: 'Id', cell: ({ id }) => <span className="font-mono text-xs">{id}</span>, wide: true },
  { header: 'Why', cell: ({ error }) => <span title={error.message}>{error.message}</span> },
  { header: 'Kind', cell: ({ kind }) => kind, className: 'w-24 text-ink-soft', wide: true },
  { header: 'Given up', cell: ({ abandoned_at_ms: at }) => <Time atMs={at} />, className: 'w-28 text-ink-soft' },
];

/** Runs whose process ended again and again. Each is kept with its event, and may run again. */
export function RunsPage() {
  const search = useSearch({ from: '/shell/runs' });
  const navigate = useNavigate({ from: '/runs' });
  const choice = choiceOf(search);
  const list = useInfiniteQuery(abandonedQuery(choice));
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const open = rows.find(({ id }) => id === search.run);
  const show = (run?: string) => void navigate({ search: (old) => ({ ...old, run }), replace: true });
  return (
    <Page title="Abandoned runs" actions={<CopyMenu command={commandOf(choice)} />}>
      <div className="flex flex-wrap items-center gap-2">
        <Filters />
        <span className="ml-auto">
          <RetryAll choice={choice} />
        </span>
      </div>
      <Beside
        title="Run"
        onClose={() => show()}
        detail={open && <RunDetail key={open.id} run={open} onClose={() => show()} />}
      >
        <div className="flex min-w-0 flex-col gap-4">
          <Paged
            list={list}
            count={rows.length}
            empty={
              <Empty
                icon="check"
                title="No abandoned runs"
                command="hw runs list"
                action={
                  Object.keys(choice).length === 0 ? (
                    <Link to="/sources" className={STEP_CLASS}>
                      Look at the sources
                    </Link>
                  ) : (
                    <Button onClick={() => void navigate({ search: {} })}>Show all</Button>
                  )
                }
              >
                A run whose process ends again and again, alone in it, is given up and kept here with its event. Once
                its source is mended it runs again.
              </Empty>
            }
          >
            <Table
              label="Abandoned runs"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              selected={open?.id ?? ''}
              onOpen={({ id }) => show(id)}
            />
          </Paged>
        </div>
      </Beside>
    </Page>
  );
}

interface Search {
  source?: string | undefined;
  range?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

function choiceOf(search: Search): AbandonedChoice {
  const { since, until } = timesOf(search);
  const ms = (text: string) => (/^\d+$/.test(text) ? Number(text) : Date.parse(text));
  return {
    ...(search.source === undefined ? {} : { source_id: search.source }),
    ...(since === undefined ? {} : { since_ms: ms(since) }),
    ...(until === undefined ? {} : { until_ms: ms(until) }),
  };
}

function commandOf({ source_id: source, since_ms: since, until_ms: until }: AbandonedChoice) {
  const query = Object.entries({ source_id: source, since_ms: since, until_ms: until });
  const given = query.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  const options = Object.entries({ source, since: iso(since), until: iso(until) });
  const words = options.flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${value}`]));
  return {
    path: ['/v1/runs', new URLSearchParams(given).toString()].filter(Boolean).join('?'),
    hw: ['hw runs list', ...words].join(' '),
  };
}

function retryCommandOf(choice: AbandonedChoice) {
  const { source_id: source, since_ms: since, until_ms: until } = choice;
  const options = { all: source === undefined, source, since: isoOf(since), until: isoOf(until) };
  return { method: 'POST' as const, path: '/v1/runs/retry', body: choice, hw: hwLine(['runs', 'retry'], options) };
}

function Filters() {
  const search = useSearch({ from: '/shell/runs' });
  const navigate = useNavigate({ from: '/runs' });
  const names = useEmitterNames();
  const sources = [...names].filter(([id]) => id.startsWith('dc_'));
  const set = (change: Search) =>
    void navigate({ search: (old) => ({ ...old, run: undefined, ...change }), replace: true });
  return (
    <FilterBar label="Filter runs">
      <select
        aria-label="Source"
        className={`${FILTER_CLASS} w-36`}
        value={search.source ?? ''}
        onChange={({ target }) => set({ source: target.value || undefined })}
      >
        <option value="">All sources</option>
        {search.source !== undefined && !names.has(search.source) && (
          <option value={search.source}>{search.source}</option>
        )}
        {sources.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <TimeRange value={search} onChange={({ range, since, until }) => set({ range, since, until })} />
    </FilterBar>
  );
}

/** All that the filter shows, once the reader has seen how many they are. */
function RetryAll({ choice }: { choice: AbandonedChoice }) {
  const { data: count = 0 } = useQuery(abandonedCountQuery(choice));
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const retrying = useMutation({
    mutationFn: () => api.post('/v1/runs/retry', { body: choice }),
    onSuccess: async () => {
      setAsking(false);
      await queries.invalidateQueries({ queryKey: ['abandoned-runs'] });
    },
  });
  const done = retrying.data?.data.count;
  const runs = count === 1 ? '1 run' : `${count.toLocaleString()} runs`;
  return (
    <span className="flex items-center gap-2">
      {done !== undefined && (
        <span role="status" className="text-sm text-ink-soft">
          {done === 1 ? '1 run is queued again.' : `${done.toLocaleString()} runs are queued again.`}
        </span>
      )}
      {count > 0 && (
        <>
          <Button needs="change" onClick={() => setAsking(true)}>
            <Icon name="retry" />
            Run all again…
          </Button>
          <CopyMenu command={retryCommandOf(choice)} />
        </>
      )}
      <Confirm
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Run ${runs} again?`}
        action={`Run ${runs} again`}
        busy={retrying.isPending}
        onConfirm={() => retrying.mutate()}
      >
        Each runs with its event and the code that its source has now, the oldest first. A run that ends its process
        again is given up again.
        <ProblemNote error={retrying.error} />
      </Confirm>
    </span>
  );
}

function RunDetail({ run, onClose }: { run: AbandonedRun; onClose: () => void }) {
  const { id, trace_id: trace, error, event } = run;
  const queries = useQueryClient();
  const retrying = useMutation({
    mutationFn: () => api.post('/v1/runs/{id}/retry', { path: { id } }),
    onSuccess: async () => {
      onClose();
      await queries.invalidateQueries({ queryKey: ['abandoned-runs'] });
    },
  });
  return (
    <Panel
      title={`Run ${id}`}
      actions={
        <>
          <Button size="small" needs="change" busy={retrying.isPending} onClick={() => retrying.mutate()}>
            <Icon name="retry" className="size-3.5" />
            Run again
          </Button>
          <CopyMenu command={{ method: 'POST', path: `/v1/runs/${id}/retry`, hw: `hw runs retry ${id}` }} />
          <CloseDetail onClose={onClose} />
        </>
      }
    >
      <div className="flex flex-col gap-3 p-4 text-sm">
        <ProblemNote error={retrying.error} />
        <p>
          <span className="font-medium text-bad">{error.code}</span>{' '}
          <span className="break-words">{error.message}</span>
        </p>
        <p>
          <Link to="/traces/$id" params={{ id: trace }} className="text-accent underline">
            Trace
          </Link>
        </p>
        <JsonTree value={event} label="Event" />
      </div>
    </Panel>
  );
}
