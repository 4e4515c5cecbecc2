import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import { Beside } from '../../ui/beside.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FILTER_CLASS } from '../../ui/field.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { QueryBox } from '../../ui/search-box.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';
import { TimeRange, timesOf } from '../../ui/time-range.tsx';
import { useEmitterNames } from './emitter-names.ts';
import { EventDetail } from './event-detail.tsx';
import { type EventFilter, searchQuery, useLinkedEvent } from './event-queries.ts';
import { EventRows, NewRows } from './event-rows.tsx';
import { NoEvents } from './no-events.tsx';
import type { LiveEvent } from './use-live-events.ts';

const REFRESH_MS = 3_000;
const keyOf = ({ metadata }: LiveEvent) => metadata.emit_id;

/** The events of all sources and workflows; the filters stand in the URL. */
export function EventsPage() {
  const search = useSearch({ from: '/shell/events' });
  const { emitter, channel, id, text, filter: json } = search;
  const filter: EventFilter = {
    ...(emitter === undefined ? {} : { emitter_id: emitter }),
    ...(channel === undefined ? {} : { event_name: channel }),
    ...(id === undefined ? {} : { id }),
    ...(text === undefined ? {} : { text }),
    ...(json === undefined ? {} : { filter: json }),
    ...timesOf(search),
  };
  const names = useEmitterNames();
  return (
    <Page title="Events" actions={<CopyMenu command={commandOf(filter)} />}>
      <Filters names={names} />
      <Found key={JSON.stringify([emitter, channel, id, text, json])} filter={filter} names={names} />
    </Page>
  );
}

function commandOf(filter: EventFilter) {
  const { emitter_id: emitter, event_name: channel, id, text, filter: json, since, until } = filter;
  const options = Object.entries({ emitter, channel, id, filter: json, since, until });
  const given = options.flatMap(([name, value]) => (value === undefined ? [] : [`--${name} '${value}'`]));
  return {
    path: `/v1/events?${new URLSearchParams(filter as Record<string, string>).toString()}`,
    hw: ['hw search', ...(text === undefined ? [] : [`'${text.replaceAll("'", `'\\''`)}'`]), ...given].join(' '),
  };
}

function Filters({ names }: { names: ReadonlyMap<string, string> }) {
  const search = useSearch({ from: '/shell/events' });
  const navigate = useNavigate({ from: '/events' });
  // An event of another list is not open in this one.
  const set = (change: Record<string, string | undefined>) =>
    void navigate({ search: (old) => ({ ...old, event: undefined, ...change }), replace: true });
  return (
    <FilterBar label="Filter events">
      <QueryBox
        value={search.text ?? ''}
        label="Text in the payload"
        onChange={(text) => set({ text: text || undefined })}
      />
      <QueryBox
        value={search.filter ?? ''}
        label="Filter as JSON"
        onChange={(json) => set({ filter: json.trim() || undefined })}
      />
      <select
        aria-label="Emitter"
        className={`${FILTER_CLASS} w-36`}
        value={search.emitter ?? ''}
        onChange={({ target }) => set({ emitter: target.value || undefined })}
      >
        <option value="">All emitters</option>
        {search.emitter !== undefined && !names.has(search.emitter) && (
          <option value={search.emitter}>{search.emitter}</option>
        )}
        {[...names].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <input
        aria-label="Channel"
        placeholder="Channel"
        className={`${FILTER_CLASS} w-28`}
        value={search.channel ?? ''}
        onChange={({ target }) => set({ channel: target.value || undefined })}
      />
      <input
        aria-label="Event id"
        placeholder="Event id"
        className={`${FILTER_CLASS} w-40 font-mono placeholder:font-sans`}
        value={search.id ?? ''}
        onChange={({ target }) => set({ id: target.value.trim() || undefined })}
      />
      <TimeRange value={search} onChange={({ range, since, until }) => set({ range, since, until })} />
      {Object.keys(search).some((name) => name !== 'event' && name !== 'compare') && (
        <Button kind="quiet" size="small" onClick={() => void navigate({ search: {} })}>
          Clear
        </Button>
      )}
    </FilterBar>
  );
}

function Found({ filter, names }: { filter: EventFilter; names: ReadonlyMap<string, string> }) {
  const { event: selected, compare } = useSearch({ from: '/shell/events' });
  const navigate = useNavigate({ from: '/events' });
  const list = useInfiniteQuery(searchQuery(filter));
  const scroller = useRef<HTMLDivElement>(null);
  const found = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const listed = found.find((event) => keyOf(event) === selected);
  const linked = useLinkedEvent(list.isSuccess && listed === undefined ? selected : undefined);
  const chosen = listed ?? linked.data;
  const last = list.data?.pages.at(-1)?.page_info.scanned_until;
  const select = (key: string | undefined) => void navigate({ search: (old) => ({ ...old, event: key }) });
  return (
    <Beside
      title="Event"
      onClose={() => select(undefined)}
      detail={
        chosen && (
          <EventDetail
            event={chosen}
            onClose={() => select(undefined)}
            compared={compare}
            onCompare={(emitId) => void navigate({ search: (old) => ({ ...old, compare: emitId }) })}
          />
        )
      }
    >
      <div className="flex min-w-0 flex-col gap-4">
        <ProblemNote error={list.error ?? linked.error} />
        <Panel>
          <NewEvents filter={filter} newest={found[0]} onShow={() => scroller.current?.scrollTo({ top: 0 })} />
          {list.isPending && <SkeletonRows />}
          {list.isSuccess && found.length === 0 && <Nothing filter={filter} hasMore={list.hasNextPage} />}
          {found.length > 0 && (
            <EventRows
              scroller={scroller}
              events={found}
              keyOf={keyOf}
              selected={selected}
              onSelect={select}
              names={names}
            />
          )}
        </Panel>
        {list.hasNextPage && (
          <Button className="self-center" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {last === undefined ? 'Show more' : 'Look further back'}
          </Button>
        )}
        {last !== undefined && (
          <p role="status" className="text-center text-xs text-ink-faint">
            Looked back to <Time atMs={last} form="clock" /> so far, <Time atMs={last} />.
          </p>
        )}
      </div>
    </Beside>
  );
}

/**
 * Asks for events newer than the list, and adds them at a click: rows do not move while the user
 * reads.
 */
function NewEvents({
  filter,
  newest,
  onShow,
}: {
  filter: EventFilter;
  newest: LiveEvent | undefined;
  onShow: () => void;
}) {
  const queries = useQueryClient();
  const [shownFrom] = useState(() => Date.now());
  const since = newest === undefined ? shownFrom : newest.indexed_at_ms + 1;
  const isOpen = filter.until === undefined && filter.id === undefined;
  const fresh = useQuery({
    queryKey: ['newer-events', filter, since],
    queryFn: ({ signal }) => {
      const query = { ...filter, since: String(since), limit: 100 };
      return api.get('/v1/events', { query, signal });
    },
    enabled: isOpen,
    refetchInterval: REFRESH_MS,
  });
  const show = async () => {
    await queries.resetQueries({ queryKey: searchQuery(filter).queryKey });
    onShow();
  };
  return <NewRows count={isOpen ? (fresh.data?.data.length ?? 0) : 0} onShow={() => void show()} />;
}

function Nothing({ filter, hasMore }: { filter: EventFilter; hasMore: boolean }) {
  const navigate = useNavigate({ from: '/events' });
  if (Object.keys(filter).length > 0) {
    return (
      <Empty
        icon="search"
        title="No event matches"
        action={<Button onClick={() => void navigate({ search: {} })}>Show all events</Button>}
      >
        {hasMore
          ? 'None of those that were looked through. Look further back, or narrow the time.'
          : 'Text is searched for letter by letter. Take a filter away, or widen the time.'}
      </Empty>
    );
  }
  return (
    <NoEvents icon="event" title="No events yet">
      Events come from sources. Create one, and what it emits appears here.
    </NoEvents>
  );
}
