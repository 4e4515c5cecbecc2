import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue, useEffect } from 'react';
import { useNames } from '../../api/names.ts';
import { Button } from '../../ui/button.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Empty, NoMatch, STEP_CLASS } from '../../ui/empty.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { EmitterLink } from '../events/emitter-link.tsx';
import { useEmitterNames } from '../events/emitter-names.ts';
import { SubscriptionPicture } from './subscription-picture.tsx';
import { type Subscription, subscriptionsQuery } from './webhook-queries.ts';

/** A picture with more lines shows nothing; the search makes it smaller. */
const MAX_DRAWN = 500;

const EVERY: Record<string, string> = { 'dc_*': 'every source', 'p_*': 'every workflow' };

function columnsOf(nameOf: (id: string) => string): readonly Column<Subscription>[] {
  return [
    { header: 'Emitter', cell: ({ emitter_id: id }) => EVERY[id] ?? <EmitterLink id={id} /> },
    {
      header: 'Listener',
      cell: ({ listener_id: id }) =>
        id.startsWith('wh_') ? (
          <Link to="/webhooks/$id" params={{ id }} className="text-accent underline">
            {nameOf(id)}
          </Link>
        ) : (
          <EmitterLink id={id} />
        ),
    },
    { header: 'Channel', cell: ({ event_name: name }) => (name === '' ? 'default' : name), className: 'w-32' },
    {
      header: 'Filter',
      cell: ({ filter }) =>
        filter === null ? 'every event' : <code className="font-mono text-xs">{JSON.stringify(filter)}</code>,
      wide: true,
    },
    {
      header: 'Since',
      cell: ({ created_at: at }) => <Time atMs={at * 1000} />,
      className: 'w-28 text-ink-soft',
      wide: true,
    },
  ];
}

/** All subscriptions of the account, as a picture and as a table. */
export function SubscriptionsPage() {
  const list = useInfiniteQuery(subscriptionsQuery());
  const { hasNextPage, fetchNextPage } = list;
  useEffect(() => {
    if (hasNextPage) void fetchNextPage();
  }, [hasNextPage, fetchNextPage, list.data]);
  const all = list.data?.pages.flatMap(({ data }) => data) ?? [];
  // A picture of the first pages alone would jump with each further one.
  const isWhole = list.isSuccess && !hasNextPage;
  const { q = '', of: only } = useSearch({ from: '/shell/subscriptions' });
  const navigate = useNavigate({ from: '/subscriptions' });
  const narrow = (change: { q?: string | undefined; of?: string | undefined }) =>
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true });
  const emitters = useEmitterNames();
  const webhooks = useNames('webhooks');
  const nameOf = (id: string) => EVERY[id] ?? emitters.get(id) ?? webhooks.get(id) ?? id;
  const words = useDeferredValue(q.trim().toLowerCase());
  const rows = all.filter(({ emitter_id: emitter, listener_id: listener }) => {
    const ends = [emitter, listener];
    return (
      (only === undefined || ends.includes(only)) &&
      (words === '' || ends.some((id) => nameOf(id).toLowerCase().includes(words)))
    );
  });
  return (
    <Page
      title="Subscriptions"
      actions={
        <>
          {only !== undefined && (
            <Button onClick={() => narrow({ of: undefined })}>
              <Icon name="cross" />
              Only {nameOf(only)}
            </Button>
          )}
          <SearchBox value={q} label="Search either end" onChange={(text) => narrow({ q: text || undefined })} />
          <CopyMenu command={{ path: '/v1/users/me/subscriptions?limit=100', hw: 'hw subscriptions list' }} />
        </>
      }
    >
      {!isWhole && list.error === null && (
        <Panel title="Who listens to whom">
          <SkeletonRows rows={5} />
        </Panel>
      )}
      {isWhole && rows.length > 0 && (
        <Panel title="Who listens to whom">
          {rows.length <= MAX_DRAWN ? (
            <SubscriptionPicture subscriptions={rows} nameOf={nameOf} onOnly={(id) => narrow({ of: id })} />
          ) : (
            <p className="p-4 text-sm text-ink-soft">
              {rows.length.toLocaleString()} lines are too many for a picture. Search for a name to draw a part of it.
            </p>
          )}
        </Panel>
      )}
      {/* Below a picture whose height is known. */}
      {(isWhole || list.error !== null) && (
        <Paged
          list={{ ...list, hasNextPage: false }}
          count={rows.length}
          empty={
            all.length === 0 ? (
              <NoSubscriptions />
            ) : (
              <NoMatch
                noun="subscription"
                text={q || nameOf(only ?? '')}
                places="the names of both ends"
                onClear={() => narrow({ q: undefined, of: undefined })}
              />
            )
          }
        >
          <Table label="Subscriptions" columns={columnsOf(nameOf)} rows={rows} keyOf={({ id }) => id} />
        </Paged>
      )}
    </Page>
  );
}

function NoSubscriptions() {
  return (
    <Empty
      icon="webhook"
      title="Nothing listens yet"
      command="hw subscriptions create <source> <webhook>"
      action={
        <Link to="/webhooks" className={STEP_CLASS}>
          Choose a webhook
        </Link>
      }
    >
      A subscription leads the events of a source or workflow to a webhook, a workflow or another source. Make one on
      the page of either end.
    </Empty>
  );
}
