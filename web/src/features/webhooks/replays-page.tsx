import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, type Schemas } from '../../api/client.ts';
import { pagesOf, refreshEvery } from '../../api/pages.ts';
import { useNames } from '../../api/names.ts';
import { Button } from '../../ui/button.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Empty, STEP_CLASS } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { EmitterLink } from '../events/emitter-link.tsx';

type Replay = Schemas['Replay'];

const REFRESH_MS = 2_000;

const replaysQuery = {
  ...pagesOf(['replays'], (query, signal) => api.get('/v1/replays', { query, signal })),
  refetchInterval: refreshEvery(REFRESH_MS),
};

/** Past events that were sent again, or are just now; the newest first. */
export function ReplaysPage() {
  const list = useInfiniteQuery(replaysQuery);
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const queries = useQueryClient();
  const cancelling = useMutation({
    mutationFn: (id: string) => api.delete('/v1/replays/{id}', { path: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['replays'] }),
  });
  const columns: readonly Column<Replay>[] = [
    {
      header: 'Status',
      cell: ({ status, error }) => (
        <span title={error ?? undefined}>
          <Status of={status} />
        </span>
      ),
      className: 'w-28',
    },
    { header: 'Events of', cell: ({ emitter_id: id }) => <EmitterLink id={id} /> },
    {
      header: 'To',
      cell: ({ listener_id: id }) => (
        <>
          <span className="hidden @max-2xl:inline">to </span>
          <ListenerLink id={id} />
        </>
      ),
      under: 'Events of',
    },
    { header: 'Sent', cell: Sent, className: 'w-44 tabular-nums', under: 'Events of' },
    {
      header: 'Stored between',
      cell: ({ since, until }) => (
        <>
          {since === null ? 'the beginning' : <Time atMs={since} />} and <Time atMs={until} />
        </>
      ),
      className: 'w-56 text-ink-soft',
      wide: true,
    },
    { header: 'Begun', cell: ({ created_at: at }) => <Time atMs={at} />, className: 'w-28 text-ink-soft', wide: true },
    {
      header: 'Cancel',
      cell: ({ id, status }) =>
        status === 'running' &&
        id !== null && (
          <Button size="small" needs="change" aria-label={`Cancel replay ${id}`} onClick={() => cancelling.mutate(id)}>
            Cancel
          </Button>
        ),
      className: 'w-24',
    },
  ];
  return (
    <Page title="Replays" actions={<CopyMenu command={{ path: '/v1/replays?limit=50', hw: 'hw replays list' }} />}>
      <ProblemNote error={cancelling.error} />
      <Paged
        list={list}
        count={rows.length}
        empty={
          <Empty
            icon="retry"
            title="No replays yet"
            action={
              <Link to="/sources" className={STEP_CLASS}>
                Choose a source
              </Link>
            }
            command="hw replays create <source> <webhook> --since 1d --dry-run"
          >
            “Replay past events…” on the page of a source or a webhook sends what is kept once more. How far each has
            come is seen here.
          </Empty>
        }
      >
        <Table label="Replays" columns={columns} rows={rows} keyOf={({ id }) => id ?? ''} />
      </Paged>
    </Page>
  );
}

function Sent({ sent, count, status }: Replay) {
  return (
    <span className="flex items-center gap-2">
      {status === 'running' && (
        <progress className="w-16" value={sent} max={Math.max(count, 1)} aria-label="Events sent" />
      )}
      {sent.toLocaleString()} of {count.toLocaleString()}
    </span>
  );
}

/** A webhook by its name, or another listener. */
function ListenerLink({ id }: { id: string }) {
  const names = useNames('webhooks');
  if (!id.startsWith('wh_')) return <EmitterLink id={id} />;
  return (
    <Link to="/webhooks/$id" params={{ id }} title={id} className="truncate text-accent underline">
      {names.get(id) ?? id}
    </Link>
  );
}
