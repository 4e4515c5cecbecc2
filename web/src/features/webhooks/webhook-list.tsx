import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { portal } from '../../app/portal.ts';
import { Button } from '../../ui/button.tsx';
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
import { Health, p95Text, Success } from './webhook-health.tsx';
import { CreateWebhook } from './create-webhook.tsx';
import { type Webhook, webhooksQuery } from './webhook-queries.ts';

const REFRESH_MS = 10_000;

const COLUMNS: readonly Column<Webhook>[] = [
  {
    header: 'Name',
    cell: ({ name, id }) => <span className="font-medium">{name ?? id}</span>,
    className: 'md:w-1/4',
    wraps: true,
  },
  {
    header: 'State',
    cell: ({ active }) => <Status of={active ? 'active' : 'inactive'} />,
    className: 'w-28 @max-2xl:w-24',
  },
  { header: 'URL', cell: ({ url }) => <span className="font-mono text-xs text-ink-soft">{url}</span>, wide: true },
  {
    header: 'Last hour',
    cell: ({ id, name }) => <ActivityOf kind="webhooks" id={id} name={name ?? id} />,
    className: 'w-32',
    wide: true,
  },
  {
    header: 'Success',
    cell: ({ id }) => <Health id={id} of={(stats) => <Success stats={stats} />} />,
    className: 'w-24 text-right tabular-nums',
  },
  {
    header: 'p95',
    cell: ({ id }) => <Health id={id} of={p95Text} />,
    className: 'w-20 text-right tabular-nums',
    wide: true,
  },
  {
    header: 'Oldest due',
    cell: ({ id }) => <Health id={id} of={({ oldest_due_at: at }) => at !== null && <Time atMs={at * 1000} />} />,
    className: 'w-28 text-ink-soft',
    wide: true,
  },
];

/** The key of a portal reads no counters of the account. */
const SHOWN_COLUMNS = portal === undefined ? COLUMNS : COLUMNS.filter(({ header }) => header !== 'Last hour');

export function WebhookList() {
  const { action, url, q = '' } = useSearch({ from: '/shell/webhooks' });
  const navigate = useNavigate({ from: '/webhooks' });
  const list = useInfiniteQuery({ ...webhooksQuery(q), refetchInterval: refreshEvery(REFRESH_MS) });
  const all = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const newWebhook = (
    <Button kind="primary" onClick={() => void navigate({ search: (search) => ({ ...search, action: 'create' }) })}>
      <Icon name="plus" />
      New webhook
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      actions={
        <>
          <QueryBox
            value={q}
            label="Search webhooks"
            onChange={(text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true })}
          />
          {portal === undefined && (
            <span className="flex gap-3 text-sm text-accent underline max-sm:order-last max-sm:w-full">
              <Link to="/subscriptions">Subscriptions</Link>
              <Link to="/replays">Replays</Link>
            </span>
          )}
          <CopyMenu command={listCommand('webhooks', q)} />
          {newWebhook}
        </>
      }
    >
      <Paged
        list={list}
        count={all.length}
        empty={
          q === '' ? (
            <Empty
              icon="webhook"
              title="No webhooks yet"
              action={newWebhook}
              command="hw webhooks create https://example.com/hook"
            >
              A webhook is a URL of yours. Each event that it is subscribed to is sent there, signed, and again until it
              is accepted.
            </Empty>
          ) : (
            <NoMatch
              noun="webhook"
              text={q}
              places="names, URLs and ids"
              onClear={() => void navigate({ search: {} })}
            />
          )
        }
      >
        <Table
          label="Webhooks"
          columns={SHOWN_COLUMNS}
          rows={all}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: '/webhooks/$id', params: { id } })}
        />
      </Paged>
      {action === 'create' && <CreateWebhook given={url} onClose={() => void navigate({ search: {} })} />}
    </Page>
  );
}
