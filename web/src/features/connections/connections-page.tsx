import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';
import { Button } from '../../ui/button.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Empty, NoMatch, ToForm } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ConnectAccount } from './connect-account.tsx';

type Account = Schemas['ConnectedAccount'];
type App = Schemas['App'];

const accountsQuery = pagesOf(['connected-accounts'], (query, signal) =>
  api.get('/v1/connected_accounts', { query, signal }),
);

/**
 * Accounts of other services that components use, and the apps that another one may be connected
 * of.
 */
export function ConnectionsPage() {
  const [slug, setSlug] = useState<string>();
  const { isPending } = useInfiniteQuery(accountsQuery);
  return (
    <Page
      title="Connections"
      actions={<CopyMenu command={{ path: '/v1/connected_accounts', hw: 'hw list accounts' }} />}
    >
      <Accounts onReconnect={setSlug} />
      {/* Its place is known when the list above it is there. */}
      <div id="apps" className={isPending ? 'hidden' : 'contents'}>
        <Apps onConnect={setSlug} />
      </div>
      {slug !== undefined && (
        <ConnectAccount slug={slug} onClose={() => setSlug(undefined)} onConnected={() => setSlug(undefined)} />
      )}
    </Page>
  );
}

function Accounts({ onReconnect }: { onReconnect: (slug: string) => void }) {
  const list = useInfiniteQuery(accountsQuery);
  const [deleted, setDeleted] = useState<Account>();
  const queries = useQueryClient();
  const onSuccess = () => queries.invalidateQueries({ queryKey: ['connected-accounts'] });
  const checking = useMutation({
    mutationFn: (id: string) => api.post('/v1/connected_accounts/{id}/check', { path: { id } }),
    onSuccess,
  });
  const deleting = useMutation({
    mutationFn: (id: string) => api.delete('/v1/connected_accounts/{id}', { path: { id } }),
    onSuccess: () => {
      setDeleted(undefined);
      return onSuccess();
    },
  });
  const columns: readonly Column<Account>[] = [
    { header: 'Account', cell: ({ id, name }) => <span className="font-medium">{name ?? id}</span> },
    { header: 'App', cell: ({ app }) => app.name, wide: true },
    {
      header: 'Health',
      cell: ({ dead, error }) => (
        <span title={error ?? ''}>
          <Status of={dead ? 'failed' : 'ok'} label={dead ? 'connect again' : 'healthy'} />
        </span>
      ),
      className: 'w-32',
    },
    {
      header: 'Checked',
      cell: ({ last_checked_at: at }) => (at === null ? 'never' : <Time atMs={at * 1000} />),
      className: 'w-28 text-ink-soft',
      wide: true,
    },
    {
      header: 'Actions',
      cell: (account) => (
        <span className="flex gap-1">
          <Button
            size="small"
            needs="change"
            aria-label={`Check ${account.name ?? account.id}`}
            onClick={() => checking.mutate(account.id)}
          >
            Check
          </Button>
          {account.dead && (
            <Button size="small" needs="change" onClick={() => onReconnect(account.app.name_slug)}>
              Reconnect
            </Button>
          )}
          <Button
            size="small"
            kind="danger"
            aria-label={`Delete ${account.name ?? account.id}`}
            onClick={() => setDeleted(account)}
          >
            Delete
          </Button>
        </span>
      ),
      className: 'w-44',
    },
  ];
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <ProblemNote error={checking.error} />
      <Paged
        list={list}
        title="Connected accounts"
        count={rows.length}
        empty={
          <Empty
            icon="connection"
            title="No connected accounts"
            command="hw connect <app>"
            action={<ToForm form="apps">Find an app</ToForm>}
          >
            Connect an account of an app below once; every source and step that you choose may use it.
          </Empty>
        }
      >
        <Table label="Connected accounts" columns={columns} rows={rows} keyOf={({ id }) => id} />
      </Paged>
      <Confirm
        open={deleted !== undefined}
        onClose={() => setDeleted(undefined)}
        title={`Delete account ${deleted?.name ?? deleted?.id ?? ''}?`}
        action="Delete account"
        busy={deleting.isPending}
        onConfirm={() => deleted !== undefined && deleting.mutate(deleted.id)}
      >
        Sources and steps that use it fail from their next run on. Its tokens are revoked where the provider can be
        asked.
        <ProblemNote error={deleting.error} />
      </Confirm>
    </>
  );
}

function nameOf({ name, name_slug: slug, private: isPrivate, hides_catalogue: hides }: App) {
  return (
    <span className="flex flex-wrap items-baseline gap-x-2">
      <span className="min-w-0 truncate font-medium">{name}</span>
      {isPrivate && (
        <span className="rounded bg-sunken px-1.5 text-xs text-ink-soft">
          private, {slug}
          {hides && ': hides one of the catalogue'}
        </span>
      )}
    </span>
  );
}

function Apps({ onConnect }: { onConnect: (slug: string) => void }) {
  const [text, setText] = useState('');
  const words = useDeferredValue(text.trim());
  const list = useInfiniteQuery(
    pagesOf(['apps', words], (query, signal) =>
      api.get('/v1/apps', { query: { ...query, ...(words === '' ? {} : { q: words }) }, signal }),
    ),
  );
  const columns: readonly Column<App>[] = [
    { header: 'App', cell: nameOf, className: 'w-1/3' },
    {
      header: 'Signs in with',
      cell: ({ auth_type: type }) => ({ none: 'nothing', keys: 'keys', oauth2: 'OAuth' })[type],
    },
    {
      header: 'Connect',
      cell: ({ name, name_slug: slug, auth_type: type }) =>
        type !== 'none' && (
          <Button size="small" needs="change" aria-label={`Connect ${name}`} onClick={() => onConnect(slug)}>
            Connect
          </Button>
        ),
      className: 'w-28',
    },
  ];
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Paged
      list={list}
      title="Apps"
      actions={<SearchBox value={text} label="Search apps" onChange={setText} />}
      count={rows.length}
      empty={<NoMatch noun="app" text={text} places="the names of apps" onClear={() => setText('')} />}
    >
      <Table label="Apps" columns={columns} rows={rows} keyOf={({ id }) => id} />
    </Paged>
  );
}
