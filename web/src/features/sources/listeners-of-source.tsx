import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import { useNames } from '../../api/names.ts';
import { Button } from '../../ui/button.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Empty, STEP_CLASS, ToForm } from '../../ui/empty.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { RowForm } from '../../ui/row-form.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import {
  FilterField,
  readFilterText,
  subscriptionCommand,
  SubscriptionFilter,
} from '../webhooks/subscription-filter.tsx';
import { Unsubscribe } from '../webhooks/unsubscribe.tsx';
import { type Subscription, subscriptionsQuery } from '../webhooks/webhook-queries.ts';
import type { Source } from './source-queries.ts';

const EVERY_SOURCE = 'dc_*';

/** Subscriptions of a source, with a form for another one. */
export function ListenersOfSource({ source }: { source: Source }) {
  const list = useInfiniteQuery(subscriptionsQuery());
  const { hasNextPage, fetchNextPage } = list;
  // They are filtered here, so all of them are read.
  useEffect(() => {
    if (hasNextPage) void fetchNextPage();
  }, [hasNextPage, fetchNextPage, list.data]);
  const names = useNames('webhooks', 'workflows');
  const all = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const own = all.filter(({ emitter_id: id }) => id === source.id || id === EVERY_SOURCE);
  const columns: readonly Column<Subscription>[] = [
    { header: 'Listener', cell: ({ listener_id: id }) => <Listener id={id} name={names.get(id)} /> },
    { header: 'Channel', cell: ({ event_name: name }) => (name === '' ? 'default' : name), className: 'w-40' },
    { header: 'Filter', cell: (row) => <SubscriptionFilter subscription={row} />, className: 'w-60', wide: true },
    {
      header: 'By',
      cell: ({ emitter_id: id }) => (id === EVERY_SOURCE ? 'every source' : 'this source'),
      className: 'w-32 text-ink-soft',
      wide: true,
    },
    {
      header: 'Remove',
      cell: (row) =>
        row.emitter_id === source.id && (
          <Unsubscribe
            subscription={row}
            emitter={source.name}
            listener={names.get(row.listener_id) ?? row.listener_id}
            label={`Unsubscribe ${names.get(row.listener_id) ?? row.listener_id}`}
          />
        ),
      className: 'w-20',
    },
  ];
  return (
    <div className="flex flex-col gap-4">
      <Subscribe source={source} names={names} />
      <Paged
        list={{ ...list, hasNextPage: false }}
        title="Listeners"
        count={own.length}
        empty={
          <Empty
            icon="webhook"
            title="Nothing listens"
            command={`hw subscriptions create ${source.name_slug} <webhook>`}
            action={
              names.size === 0 ? (
                <Link to="/webhooks" search={{ action: 'create' }} className={STEP_CLASS}>
                  New webhook
                </Link>
              ) : (
                <ToForm form="subscribe">Choose a listener</ToForm>
              )
            }
          >
            Each event that this source emits reaches the webhooks and workflows that listen to it from then on.
          </Empty>
        }
      >
        <Table label="Listeners" columns={columns} rows={own} keyOf={({ id }) => id} />
      </Paged>
    </div>
  );
}

function Listener({ id, name }: { id: string; name: string | undefined }) {
  const page = id.startsWith('wh_') ? '/webhooks/$id' : id.startsWith('p_') ? '/workflows/$id' : '/sources/$id';
  return (
    <Link to={page} params={{ id }} className="text-accent underline">
      {name ?? id}
    </Link>
  );
}

function Subscribe({ source, names }: { source: Source; names: ReadonlyMap<string, string> }) {
  const [listener, setListener] = useState('');
  const [channel, setChannel] = useState('');
  const [filter, setFilter] = useState('');
  const queries = useQueryClient();
  const subscribing = useMutation({
    mutationFn: () => {
      const body = {
        emitter_id: source.id,
        listener_id: listener,
        event_name: channel,
        ...(filter === '' ? {} : { filter: readFilterText(filter) }),
      };
      return api.post('/v1/subscriptions', { body });
    },
    onSuccess: () => {
      setListener('');
      setChannel('');
      setFilter('');
      return queries.invalidateQueries({ queryKey: ['subscriptions'] });
    },
  });
  return (
    <Panel title="Subscribe">
      <RowForm id="subscribe" onSubmit={() => subscribing.mutate()} error={subscribing.error}>
        <div className="min-w-56 flex-1">
          <Field label="Listener">
            {(ids) => (
              <select
                {...ids}
                required
                className={INPUT_CLASS}
                value={listener}
                onChange={({ target }) => setListener(target.value)}
              >
                <option value="">Choose a webhook or workflow…</option>
                {[...names].map(([id, name]) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <TextField
          label="Channel"
          optional
          value={channel}
          onChange={({ target }) => setChannel(target.value)}
          placeholder="default"
        />
        <div className="min-w-56 flex-1">
          <FilterField value={filter} onChange={setFilter} error={subscribing.error} />
        </div>
        <Button type="submit" kind="primary" busy={subscribing.isPending} disabled={listener === ''}>
          Subscribe
        </Button>
        <CopyMenu command={subscriptionCommand({ emitter: source.id, listener }, channel, filter)} />
      </RowForm>
    </Panel>
  );
}
