import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react';
import { writeExact } from '../../api/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { LiveBadge } from '../../ui/live-badge.tsx';
import { Panel } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { type LiveEvent, useLiveEvents } from '../events/use-live-events.ts';
import { endpointOf, type Source } from './source-queries.ts';

const ROW_PX = 40;
const PREVIEW_CHARS = 200;

interface SourceEventsProps {
  source: Source;
  /** Stands in the URL, which the page around it keeps. */
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
}

/** The event bin: the last hundred, and every new one as it comes. */
export function SourceEvents({ source, selected, onSelect: select }: SourceEventsProps) {
  const live = useLiveEvents(`/v1/sources/${source.id}/sse?expand=event`);
  const { hold } = live;
  useEffect(() => hold(selected !== undefined), [hold, selected]);
  const chosen = live.shown.find(({ id }) => id === selected);
  const scroller = useRef<HTMLDivElement>(null);
  const showNew = () => {
    live.show();
    scroller.current?.scrollTo({ top: 0 });
  };
  return (
    <div className={classNames('grid gap-4', chosen !== undefined && 'lg:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)]')}>
      <Panel title="Events" actions={<LiveBadge state={live.state} />}>
        <NewRows count={live.waiting} onShow={showNew} />
        {live.shown.length === 0 ? (
          <Empty icon="event" title="No events yet" command={emptyCommand(source)}>
            Events appear here as the source emits them. Press Run now, or send a request to its endpoint.
          </Empty>
        ) : (
          <EventRows
            scroller={scroller}
            events={live.shown}
            selected={selected}
            onSelect={select}
            onScrolled={(isAway) => hold(isAway || selected !== undefined)}
          />
        )}
      </Panel>
      {chosen !== undefined && <EventDetail event={chosen} source={source} onClose={() => select(undefined)} />}
    </div>
  );
}

/** Lies over the list: it must not move what is being read. */
function NewRows({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <div className="pointer-events-none relative z-10 h-0">
      {count > 0 && (
        <Button
          kind="primary"
          size="small"
          className="pointer-events-auto absolute top-2 left-1/2 -translate-x-1/2 rounded-full shadow-popup"
          onClick={onShow}
        >
          {count} new
        </Button>
      )}
    </div>
  );
}

function emptyCommand(source: Source): string {
  const endpoint = endpointOf(source);
  return endpoint === undefined
    ? `hw run ${source.name_slug}`
    : `curl ${endpoint} -H 'Content-Type: application/json' -d '{"hello":"world"}'`;
}

interface EventRowsProps {
  scroller: RefObject<HTMLDivElement | null>;
  events: readonly LiveEvent[];
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
  onScrolled: (isAway: boolean) => void;
}

function EventRows({ scroller, events, selected, onSelect, onScrolled }: EventRowsProps) {
  const virtualizer = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 15,
    getItemKey: (index) => events[index]?.id ?? index,
  });
  const onKeyDown = (event: KeyboardEvent<HTMLElement>, index: number) => {
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') onSelect(events[index]?.id);
    if (event.key === 'Escape') onSelect(undefined);
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max(index + step, 0), events.length - 1);
    virtualizer.scrollToIndex(next);
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus());
  };
  return (
    <div
      ref={scroller}
      role="table"
      aria-label="Events"
      aria-rowcount={events.length}
      className="max-h-[65vh] overflow-y-auto"
      onScroll={({ currentTarget }) => onScrolled(currentTarget.scrollTop > ROW_PX)}
    >
      <div role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start, key }) => {
          const event = events[index] as LiveEvent;
          return (
            <div
              key={key}
              role="row"
              tabIndex={0}
              data-row={index}
              aria-rowindex={index + 1}
              aria-selected={event.id === selected}
              onClick={() => onSelect(event.id)}
              onKeyDown={(pressed) => onKeyDown(pressed, index)}
              style={{ height: ROW_PX, transform: `translateY(${start}px)` }}
              className={classNames(
                'absolute inset-x-0 flex cursor-pointer items-center gap-3 border-b border-line px-3 text-sm -outline-offset-2 hover:bg-sunken',
                event.id === selected && 'bg-accent-soft',
              )}
            >
              <span role="cell" className="w-28 shrink-0 text-xs text-ink-faint">
                <Time atMs={event.indexed_at_ms} form="clock" />
              </span>
              {event.metadata.name !== '' && (
                <span role="cell" className="shrink-0 rounded bg-sunken px-1.5 font-mono text-xs">
                  {event.metadata.name}
                </span>
              )}
              <span
                role="cell"
                className={classNames(
                  'min-w-0 flex-1 truncate',
                  event.metadata.summary === null && 'font-mono text-xs',
                )}
              >
                {event.metadata.summary ?? writeExact(event.event, 0).slice(0, PREVIEW_CHARS)}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

function EventDetail({ event, source, onClose }: { event: LiveEvent; source: Source; onClose: () => void }) {
  const { metadata } = event;
  return (
    <Panel
      title={metadata.summary ?? 'Event'}
      actions={
        <>
          <CopyMenu
            command={{
              path: `/v1/sources/${source.id}/event_summaries?expand=event`,
              hw: `hw events ${source.name_slug}`,
            }}
          />
          <Button kind="quiet" size="small" onClick={onClose}>
            Close
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-xs">
          <Fact name="Id">{event.id}</Fact>
          {metadata.id !== null && <Fact name="Dedupe id">{metadata.id}</Fact>}
          <Fact name="Channel">{metadata.name === '' ? 'default' : metadata.name}</Fact>
          {metadata.trace_id !== null && (
            <Fact name="Trace">
              <Link to="/traces/$id" params={{ id: metadata.trace_id }} className="text-accent underline">
                {metadata.trace_id}
              </Link>
            </Fact>
          )}
        </dl>
        <JsonTree key={event.id} value={event.event} label="Event" />
      </div>
    </Panel>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-ink-faint">{name}</dt>
      <dd className="truncate font-mono">{children}</dd>
    </>
  );
}
