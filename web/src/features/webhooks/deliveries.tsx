import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Beside } from '../../ui/beside.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FILTER_CLASS } from '../../ui/field.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { TimeRange, timesOf } from '../../ui/time-range.tsx';
import { DeliveryDetail } from './delivery-detail.tsx';
import { RedeliverMany } from './redeliver-many.tsx';
import {
  type Attempt,
  deliveriesQuery,
  type Delivery,
  type DeliveryFilter,
  deliveryQuery,
  type Webhook,
} from './webhook-queries.ts';

const COLUMNS: readonly Column<Delivery>[] = [
  { header: 'Status', cell: ({ status }) => <Status of={status} />, className: 'w-28' },
  { header: 'Event', cell: ({ event_id }) => <span className="font-mono text-xs">{event_id}</span> },
  { header: 'Answer', cell: ({ attempts }) => answerOf(attempts.at(-1)), under: 'Event' },
  { header: 'Attempts', cell: ({ attempts }) => attempts.length, className: 'w-24 tabular-nums', wide: true },
  { header: 'Created', cell: ({ created_at }) => <Time atMs={created_at * 1000} />, className: 'w-28 text-ink-soft' },
];

function answerOf(attempt: Attempt | undefined): string {
  if (attempt === undefined) return 'not sent yet';
  if (attempt.location !== null) return `HTTP ${attempt.status_code} to ${attempt.location}`;
  return attempt.error ?? `HTTP ${attempt.status_code}`;
}

const STATUSES = ['pending', 'sending', 'held', 'delivered', 'failed', 'dropped', 'cancelled'] as const;

const FAILURES: readonly [errorClass: string, label: string][] = [
  ['http_4xx', 'Answered 4xx'],
  ['http_5xx', 'Answered 5xx'],
  ['http_3xx', 'Answered a redirect'],
  ['timeout', 'No answer in time'],
  ['connection', 'No connection'],
  ['refused', 'Address not allowed'],
  ['internal', 'Not sent'],
  ['transform', 'Transform failed'],
];

/** Deliveries of one webhook; the URL holds the filters. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const search = useSearch({ from: '/shell/webhooks/$id' });
  const { delivery: selected, status, failure, text } = search;
  const navigate = useNavigate({ from: '/webhooks/$id' });
  const filter: DeliveryFilter = {
    ...(status === undefined ? {} : { status }),
    ...(failure === undefined ? {} : { error_class: failure }),
    ...(text === undefined ? {} : { text }),
    ...timesOf(search),
  };
  const list = useInfiniteQuery(deliveriesQuery(webhook.id, filter));
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const scannedUntil = list.data?.pages.at(-1)?.page_info.scanned_until;
  const isFiltered = Object.keys(filter).length > 0;
  const select = (id: string | undefined) => void navigate({ search: (old) => ({ ...old, delivery: id }) });
  return (
    <div className="grid grid-cols-1 gap-4">
      <FilterBar label="Filter deliveries">
        <Filters />
        <div className="ml-auto flex items-center gap-2 max-sm:col-span-full max-sm:justify-end">
          <RedeliverMany webhook={webhook} filter={filter} />
          <CopyMenu command={commandOf(webhook.id, filter)} />
        </div>
      </FilterBar>
      <Beside
        className="items-start"
        title="Delivery"
        onClose={() => select(undefined)}
        detail={selected === undefined ? undefined : <Chosen id={selected} onClose={() => select(undefined)} />}
      >
        <div className="flex min-w-0 flex-col gap-4">
          <Paged
            list={list}
            title="Deliveries"
            count={rows.length}
            empty={
              isFiltered ? (
                <Empty
                  icon="search"
                  title="No delivery matches"
                  action={<Button onClick={() => void navigate({ search: {} })}>Show all deliveries</Button>}
                >
                  Take a filter away, or widen the time.
                </Empty>
              ) : (
                <Empty
                  icon="webhook"
                  title="Nothing was sent yet"
                  action={
                    <Button
                      kind="primary"
                      needs={null}
                      onClick={() => void navigate({ search: { tab: 'subscriptions' } })}
                    >
                      Choose what it gets
                    </Button>
                  }
                  command={`hw subscriptions create <source> ${webhook.id}`}
                >
                  It gets the events of what it is subscribed to, from then on. Each is sent to its URL, signed.
                </Empty>
              )
            }
          >
            <Table
              label="Deliveries"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              selected={selected}
              onOpen={({ id }) => select(id)}
            />
          </Paged>
          {scannedUntil !== undefined && (
            <p role="status" className="text-center text-xs text-ink-faint">
              Looked back to <Time atMs={scannedUntil} />.
            </p>
          )}
        </div>
      </Beside>
    </div>
  );
}

/**
 * By its id: a link to one that is pages behind, or that the filter leaves out, opens it all the
 * same.
 */
function Chosen({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error } = useQuery(deliveryQuery(id));
  if (data === undefined) return <ProblemNote error={error} />;
  return <DeliveryDetail delivery={data} onClose={onClose} />;
}

function commandOf(id: string, filter: DeliveryFilter) {
  const query = new URLSearchParams({ ...filter, limit: '50' }).toString();
  const options = Object.entries(filter).map(([name, value]) => `--${name.replace('_', '-')} '${value}'`);
  return {
    path: `/v1/webhooks/${id}/deliveries?${query}`,
    hw: ['hw webhooks deliveries', id, ...options].join(' '),
  };
}

function Filters() {
  const search = useSearch({ from: '/shell/webhooks/$id' });
  const navigate = useNavigate({ from: '/webhooks/$id' });
  const chosen = new Set(search.status?.split(',').filter((one) => one !== ''));
  const set = (change: Record<string, string | undefined>) =>
    void navigate({ search: (old) => ({ ...old, delivery: undefined, ...change }), replace: true });
  const toggle = (status: string) => {
    const next = new Set(chosen);
    if (!next.delete(status)) next.add(status);
    set({ status: [...next].join(',') || undefined });
  };
  return (
    <>
      <div role="group" aria-label="Status" className="-ml-1.5 flex basis-full flex-wrap max-sm:col-span-full">
        {STATUSES.map((status) => (
          <Button
            key={status}
            size="small"
            kind={chosen.has(status) ? 'plain' : 'quiet'}
            aria-pressed={chosen.has(status)}
            onClick={() => toggle(status)}
          >
            <Status of={status} />
          </Button>
        ))}
      </div>
      <select
        aria-label="Failure"
        className={FILTER_CLASS}
        value={search.failure ?? ''}
        onChange={({ target }) => set({ failure: target.value || undefined })}
      >
        <option value="">Any outcome</option>
        {FAILURES.map(([errorClass, label]) => (
          <option key={errorClass} value={errorClass}>
            {label}
          </option>
        ))}
      </select>
      <SearchBox
        label="Text in attempts"
        value={search.text ?? ''}
        onChange={(text) => set({ text: text || undefined })}
      />
      <TimeRange value={search} onChange={({ range, since, until }) => set({ range, since, until })} />
    </>
  );
}
