import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, type MouseEvent, type RefObject } from 'react';
import { writeExact } from '../../api/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { withFocused } from '../../ui/long-list.ts';
import { Time } from '../../ui/time.tsx';
import type { LiveEvent } from './use-live-events.ts';

const ROW_PX = 40;
const PREVIEW_CHARS = 200;

/** Lies over the list: it must not move what is being read. */
export function NewRows({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <div className="pointer-events-none relative z-10 h-0">
      {count > 0 && (
        <Button
          kind="primary"
          needs={null}
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

interface EventRowsProps {
  scroller: RefObject<HTMLDivElement | null>;
  events: readonly LiveEvent[];
  /** The key of the one that is open. */
  selected: string | undefined;
  /** Default: the id, for the events of one emitter. */
  keyOf?: (event: LiveEvent) => string;
  onSelect: (key: string | undefined) => void;
  /** Names of emitters, where there are several. */
  names?: ReadonlyMap<string, string>;
  onScrolled?: (isAway: boolean) => void;
}

const idOf = ({ id }: LiveEvent) => id;

/**
 * Rows of events, of which only those in view are drawn. `j` and `k` or the arrows move, Enter
 * opens one.
 */
export function EventRows(props: EventRowsProps) {
  const { scroller, events, selected, keyOf = idOf, onSelect, names, onScrolled } = props;
  const virtualizer = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
    rangeExtractor: (range) => withFocused(range, scroller.current),
    getItemKey: (index) => (events[index] === undefined ? index : keyOf(events[index])),
  });
  const keyAt = (row: HTMLElement | null | undefined) => {
    const event = events[Number(row?.dataset['index'] ?? Number.NaN)];
    return event === undefined ? undefined : keyOf(event);
  };
  const onClick = ({ target }: MouseEvent<HTMLElement>) => {
    const key = keyAt((target as Element).closest<HTMLElement>('[data-index]'));
    if (key !== undefined) onSelect(key);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const row = event.target as HTMLElement;
    const key = keyAt(row);
    if (key === undefined) return;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') onSelect(key);
    if (event.key === 'Escape') onSelect(undefined);
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max(Number(row.dataset['index']) + step, 0), events.length - 1);
    scroller.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus();
  };
  return (
    <div
      ref={scroller}
      role="table"
      aria-label="Events"
      aria-rowcount={events.length}
      className="max-h-[65vh] overflow-y-auto"
      onScroll={({ currentTarget }) => onScrolled?.(currentTarget.scrollTop > ROW_PX)}
    >
      <div
        role="rowgroup"
        className="relative"
        style={{ height: virtualizer.getTotalSize() }}
        onClick={onClick}
        onKeyDown={onKeyDown}
      >
        {virtualizer.getVirtualItems().map(({ index, start, key }) => {
          const event = events[index] as LiveEvent;
          return (
            <EventRow
              key={key}
              event={event}
              index={index}
              topPx={start}
              isSelected={keyOf(event) === selected}
              emitter={names && (names.get(event.metadata.emitter_id) ?? event.metadata.emitter_id)}
            />
          );
        })}
      </div>
    </div>
  );
}

interface EventRowProps {
  event: LiveEvent;
  index: number;
  topPx: number;
  isSelected: boolean;
  /** Undefined where all events are of one. */
  emitter: string | undefined;
}

/** Memoized: a scroll renders the list at each frame, and most of its rows are the same. */
const EventRow = memo(function EventRow({ event, index, topPx, isSelected, emitter }: EventRowProps) {
  const { name, summary } = event.metadata;
  return (
    <div
      role="row"
      tabIndex={0}
      data-index={index}
      aria-rowindex={index + 1}
      aria-selected={isSelected}
      style={{ height: ROW_PX, transform: `translateY(${topPx}px)` }}
      className={classNames(
        'absolute inset-x-0 flex cursor-pointer items-center gap-3 border-b border-line px-4 text-sm -outline-offset-2 hover:bg-sunken',
        isSelected && 'bg-accent-soft',
      )}
    >
      <span role="cell" className="w-28 shrink-0 text-xs text-ink-faint">
        <Time atMs={event.indexed_at_ms} form="clock" />
      </span>
      {emitter !== undefined && (
        <span role="cell" className="w-32 shrink-0 truncate text-ink-soft max-md:hidden">
          {emitter}
        </span>
      )}
      {name !== '' && (
        <span role="cell" className="shrink-0 rounded bg-sunken px-1.5 font-mono text-xs">
          {name}
        </span>
      )}
      <span role="cell" className={classNames('min-w-0 flex-1 truncate', summary === null && 'font-mono text-xs')}>
        {summary ?? writeExact(event.event, 0).slice(0, PREVIEW_CHARS)}
      </span>
    </div>
  );
});
