import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useNames } from '../../api/names.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Empty, STEP_CLASS } from '../../ui/empty.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { EmitterLink } from '../events/emitter-link.tsx';
import { useEmitterNames } from '../events/emitter-names.ts';
import { SubscriptionPicture } from './subscription-picture.tsx';
import { type Subscription, subscriptionsQuery } from './webhook-queries.ts';

/** A picture with more lines shows nothing; the table lists all. */
const MAX_DRAWN = 300;

const EVERY: Record<string, string> = { 'dc_*': 'every source', 'p_*': 'every workflow' };

/** All subscriptions of the account, as a picture and as a table. */
export function SubscriptionsPage() {
  const list = useInfiniteQuery(subscriptionsQuery());
  const { hasNextPage, fetchNextPage } = list;
  useEffect(() => {
    if (hasNextPage) void fetchNextPage();
  }, [hasNextPage, fetchNextPage, list.data]);
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const emitters = useEmitterNames();
  const webhooks = useNames('webhooks');
  const nameOf = (id: string) => EVERY[id] ?? emitters.get(id) ?? webhooks.get(id) ?? id;
  const columns: readonly Column<Subscription>[] = [
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
  return (
    <Page
      title="Subscriptions"
      actions={<CopyMenu command={{ path: '/v1/users/me/subscriptions?limit=100', hw: 'hw subscriptions list' }} />}
    >
      {list.isPending && (
        <Panel title="Who listens to whom">
          <SkeletonRows rows={5} />
        </Panel>
      )}
      {rows.length > 0 && rows.length <= MAX_DRAWN && (
        <Panel title="Who listens to whom">
          <SubscriptionPicture subscriptions={rows} nameOf={nameOf} />
        </Panel>
      )}
      {/* Below a picture whose height is known. */}
      {!list.isPending && (
        <Paged
          list={{ ...list, hasNextPage: false }}
          count={rows.length}
          empty={
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
              A subscription leads the events of a source or workflow to a webhook, a workflow or another source. Make
              one on the page of either end.
            </Empty>
          }
        >
          <Table label="Subscriptions" columns={columns} rows={rows} keyOf={({ id }) => id} />
        </Paged>
      )}
    </Page>
  );
}
