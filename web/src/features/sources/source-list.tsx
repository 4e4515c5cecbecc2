import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { refreshEvery } from '../../api/pages.ts';
import { listCommand } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Empty, NoMatch } from '../../ui/empty.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { QueryBox } from '../../ui/search-box.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ActivityOf } from '../overview/activity-of.tsx';
import { CreateSource } from './create-source.tsx';
import { Owner, OwnerFilter } from './owner.tsx';
import { endpointOf, type Source, sourcesQuery } from './source-queries.ts';

const REFRESH_MS = 10_000;

const COLUMNS: readonly Column<Source>[] = [
  {
    header: 'Name',
    cell: ({ name }) => <span className="font-medium">{name}</span>,
    className: 'md:w-1/4',
    wraps: true,
  },
  {
    header: 'State',
    cell: ({ active }) => <Status of={active ? 'active' : 'inactive'} />,
    className: 'w-28 @max-2xl:w-24',
  },
  { header: 'Owner', cell: ({ user_id: id }) => <Owner userId={id} />, className: 'w-28 text-ink-soft', wide: true },
  {
    header: 'Started by',
    cell: (source) => {
      const endpoint = endpointOf(source);
      return (
        <span title={endpoint} className={classNames('text-ink-soft', endpoint !== undefined && 'font-mono text-xs')}>
          {endpoint === undefined ? triggerOf(source) : shortUrl(endpoint)}
        </span>
      );
    },
    wide: true,
  },
  {
    header: 'Last hour',
    cell: ({ id, name }) => <ActivityOf kind="emitters" id={id} name={name} />,
    className: 'w-32',
    wide: true,
  },
  {
    header: 'Last event',
    cell: ({ last_event_at: at }) => (at === null ? 'none' : <Time atMs={at * 1000} />),
    className: 'w-28 text-ink-soft',
  },
  {
    header: 'Last error',
    cell: ({ last_error: error }) => error !== null && <LastError at={error.at} message={error.message} />,
    className: 'w-1/5',
    wide: true,
  },
];

function LastError({ at, message }: { at: number; message: string | null }) {
  return (
    <span title={message ?? undefined}>
      <span className="text-ink-soft">
        <Time atMs={at * 1000} />
      </span>{' '}
      <span className="text-bad">{message}</span>
    </span>
  );
}

/** Endpoints differ in their path; on hosts of their own, in the host. */
function shortUrl(url: string): string {
  const { host, pathname } = new URL(url);
  return pathname === '/' ? host : pathname;
}

function triggerOf({ configured_props: props }: Source): string {
  for (const value of Object.values(props)) {
    if (typeof value !== 'object' || value === null) continue;
    if ('cron' in value && typeof value.cron === 'string') return `cron ${value.cron}`;
    if ('interval_seconds' in value && typeof value.interval_seconds === 'number')
      return `every ${value.interval_seconds} s`;
  }
  return 'by hand';
}

function NoSource({ q, owner, onClear }: { q: string; owner: string; onClear: () => void }) {
  if (owner === '') return <NoMatch noun="source" text={q} places="names and ids" onClear={onClear} />;
  return (
    <Empty
      icon="search"
      title={q === '' ? 'No source has this owner' : `No source of this owner matches “${q}”`}
      action={<Button onClick={onClear}>Show all sources</Button>}
    >
      The owner of a source is the user who made it. Choose another one, or all.
    </Empty>
  );
}

export function SourceList() {
  const { action, key, url, q = '', owner = '' } = useSearch({ from: '/shell/sources' });
  const navigate = useNavigate({ from: '/sources' });
  const list = useInfiniteQuery({ ...sourcesQuery({ q, owner }), refetchInterval: refreshEvery(REFRESH_MS) });
  const all = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const create = () => void navigate({ search: (search) => ({ ...search, action: 'create' }) });
  const newSource = (
    <Button kind="primary" onClick={create}>
      <Icon name="plus" />
      New source
    </Button>
  );
  return (
    <Page
      title="Sources"
      actions={
        <>
          <QueryBox
            value={q}
            label="Search sources"
            onChange={(text) => void navigate({ search: (old) => ({ ...old, q: text || undefined }), replace: true })}
          />
          <OwnerFilter
            value={owner}
            onChange={(id) => void navigate({ search: (old) => ({ ...old, owner: id || undefined }), replace: true })}
          />
          <CopyMenu command={listCommand('sources', q, owner)} />
          {newSource}
        </>
      }
    >
      <Paged
        list={list}
        count={all.length}
        empty={
          q === '' && owner === '' ? (
            <Empty
              icon="source"
              title="No sources yet"
              action={newSource}
              command="hw init source hello && hw deploy hello.mjs"
            >
              A source is started by a request, a timer or by hand, and emits events. Its events reach webhooks and
              workflows.
            </Empty>
          ) : (
            <NoSource q={q} owner={owner} onClear={() => void navigate({ search: {} })} />
          )
        }
      >
        <Table
          label="Sources"
          columns={COLUMNS}
          rows={all}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: '/sources/$id', params: { id } })}
        />
      </Paged>
      {action === 'create' && (
        <CreateSource
          given={{ key, url }}
          onClose={() => void navigate({ search: {} })}
          onCreated={({ id }) => void navigate({ to: '/sources/$id', params: { id } })}
        />
      )}
    </Page>
  );
}
