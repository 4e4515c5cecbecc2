import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { portal } from '../../app/portal.ts';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Empty, STEP_CLASS, ToForm } from '../../ui/empty.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { RowForm } from '../../ui/row-form.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { EmitterLink } from '../events/emitter-link.tsx';
import { useEmitterNames } from '../events/emitter-names.ts';
import { FilterField, readFilterText, subscriptionCommand, SubscriptionFilter } from './subscription-filter.tsx';
import { Unsubscribe } from './unsubscribe.tsx';
import { type Subscription, subscriptionsQuery, type WholeWebhook } from './webhook-queries.ts';

const EVERY: Record<string, string> = { 'dc_*': 'every source', 'p_*': 'every workflow' };

/** Subscriptions of the webhook, with a form for another one. */
export function SubscriptionsOfWebhook({ webhook }: { webhook: WholeWebhook }) {
  const { id: webhookId } = webhook;
  const list = useInfiniteQuery(subscriptionsQuery());
  const { hasNextPage, fetchNextPage } = list;
  // They are filtered here, so all of them are read.
  useEffect(() => {
    if (hasNextPage) void fetchNextPage();
  }, [hasNextPage, fetchNextPage, list.data]);
  const names = useEmitterNames();
  const own = (list.data?.pages.flatMap(({ data }) => data) ?? []).filter(({ listener_id: id }) => id === webhookId);
  const columns: readonly Column<Subscription>[] = [
    { header: 'Emitter', cell: ({ emitter_id: id }) => EVERY[id] ?? <EmitterLink id={id} /> },
    { header: 'Channel', cell: ({ event_name: name }) => (name === '' ? 'default' : name), className: 'w-40' },
    { header: 'Filter', cell: (row) => <SubscriptionFilter subscription={row} />, className: 'w-60', wide: true },
    {
      header: 'Since',
      cell: ({ created_at: at }) => <Time atMs={at * 1000} />,
      className: 'w-32 text-ink-soft',
      wide: true,
    },
    {
      header: 'Remove',
      cell: (row) => {
        const known = EVERY[row.emitter_id] ?? names.get(row.emitter_id);
        const emitter = known ?? (portal === undefined ? row.emitter_id : 'what is no longer there');
        return (
          <Unsubscribe
            subscription={row}
            emitter={emitter}
            listener={webhook.name ?? webhook.url}
            label={`Unsubscribe from ${emitter}`}
          />
        );
      },
      className: 'w-20',
    },
  ];
  return (
    <div className="flex flex-col gap-4">
      <Subscribe webhookId={webhookId} names={names} />
      <Paged
        list={{ ...list, hasNextPage: false }}
        title="Subscriptions"
        count={own.length}
        empty={
          <Empty
            icon="webhook"
            title="It listens to nothing"
            command={`hw subscriptions create <source> ${webhookId}`}
            action={
              names.size === 0 && portal === undefined ? (
                <Link to="/sources" search={{ action: 'create' }} className={STEP_CLASS}>
                  New source
                </Link>
              ) : (
                <ToForm form="subscribe">Choose an emitter</ToForm>
              )
            }
          >
            Each event of a source or workflow that it listens to is sent to this webhook from then on.
          </Empty>
        }
      >
        <Table label="Subscriptions" columns={columns} rows={own} keyOf={({ id }) => id} />
      </Paged>
    </div>
  );
}

function Subscribe({ webhookId, names }: { webhookId: string; names: Map<string, string> }) {
  const [emitter, setEmitter] = useState('');
  const [channel, setChannel] = useState('');
  const [filter, setFilter] = useState('');
  const queries = useQueryClient();
  const subscribing = useMutation({
    mutationFn: () =>
      api.post('/v1/subscriptions', {
        body: {
          emitter_id: emitter,
          listener_id: webhookId,
          event_name: channel,
          ...(filter === '' ? {} : { filter: readFilterText(filter) }),
        },
      }),
    onSuccess: () => {
      setEmitter('');
      setChannel('');
      setFilter('');
      return queries.invalidateQueries({ queryKey: ['subscriptions'] });
    },
  });
  return (
    <Panel title="Subscribe">
      <RowForm id="subscribe" onSubmit={() => subscribing.mutate()} error={subscribing.error}>
        <div className="min-w-56 flex-1">
          <Field label="Emitter">
            {(ids) => (
              <select
                {...ids}
                required
                className={INPUT_CLASS}
                value={emitter}
                onChange={({ target }) => setEmitter(target.value)}
              >
                <option value="">Choose a source or workflow…</option>
                {[...names, ...Object.entries(EVERY)].map(([id, name]) => (
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
        <Button type="submit" kind="primary" busy={subscribing.isPending} disabled={emitter === ''}>
          Subscribe
        </Button>
        <CopyMenu command={subscriptionCommand({ emitter, listener: webhookId }, channel, filter)} />
      </RowForm>
    </Panel>
  );
}
