import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/** A list up to this length is drawn whole: the browser finds text in it, and prints it. */
const MAX_WHOLE = 150;

interface LongListOptions {
  count: number;
  /** Height of most rows, about. The rows that are drawn first say it exactly. */
  rowPx: number;
  /** Keeps the height of a row that moves in the list. */
  keyOf: (index: number) => string;
}

interface LongListRow {
  index: number;
  /** Height of the rows between this one and the one drawn before it. */
  gapPx: number;
}

interface LongList<E extends HTMLElement> {
  /**
   * Goes to the element whose children the rows are. Where gaps are margins it is a `flow-root`:
   * the gap of the first row would move the list itself.
   */
  list: RefObject<E | null>;
  /** The rows to draw. Each gets `data-index`, `measure` as its ref, and its gap above it. */
  rows: LongListRow[];
  /** Height of the rows after the last one. */
  restPx: number;
  measure: (row: HTMLElement | null) => void;
  /** Scrolls to a row, which is then drawn. */
  reveal: (index: number) => void;
  /** False: all rows are drawn. */
  isLong: boolean;
}

/**
 * The rows of a list that are in view, in the flow of the page. The nearest ancestor that scrolls
 * is the one that moves them. The row with the focus and its neighbours are always drawn, so that
 * the keyboard goes on from it wherever the reader has scrolled to.
 */
export function useLongList<E extends HTMLElement>({ count, rowPx, keyOf }: LongListOptions): LongList<E> {
  const list = useRef<E>(null);
  const [aboveListPx, setAboveList] = useState(0);
  const usualPx = useRef<number>(undefined);
  const isLong = count > MAX_WHOLE;
  const virtualizer = useVirtualizer<HTMLElement, HTMLElement>({
    count,
    enabled: isLong,
    getScrollElement: () => scrollerOf(list.current),
    initialOffset: () => scrollerOf(list.current)?.scrollTop ?? 0,
    estimateSize: () => usualPx.current ?? rowPx,
    getItemKey: keyOf,
    scrollMargin: aboveListPx,
    overscan: 12,
    rangeExtractor: (range) => withFocused(range, list.current),
  });
  // Rows are in the flow, where the browser keeps in place what is read.
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = () => false;
  useLayoutEffect(() => {
    if (!isLong) return;
    setAboveList(pxAbove(list.current));
    const drawn = drawnRows(list.current);
    if (usualPx.current !== undefined || drawn.length === 0) return;
    // A guess that is a pixel off would be corrected, and all drawn anew, for each row.
    usualPx.current = medianHeight(drawn);
    if (usualPx.current === rowPx) return;
    virtualizer.measure();
    for (const row of drawn) virtualizer.measureElement(row);
  });
  if (!isLong) {
    const rows = Array.from({ length: count }, (_, index) => ({ index, gapPx: 0 }));
    const reveal = (index: number) => list.current?.children[index]?.scrollIntoView({ block: 'center' });
    return { list, rows, restPx: 0, measure: ignore, reveal, isLong };
  }
  let endPx = aboveListPx;
  const rows = virtualizer.getVirtualItems().map(({ index, start, end }) => {
    const gapPx = Math.max(start - endPx, 0);
    endPx = end;
    return { index, gapPx };
  });
  const restPx = Math.max(virtualizer.getTotalSize() + aboveListPx - endPx, 0);
  const reveal = (index: number) => virtualizer.scrollToIndex(index, { align: 'center' });
  return { list, rows, restPx, measure: virtualizer.measureElement, reveal, isLong };
}

function ignore(): void {}

function drawnRows(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>(':scope > [data-index]') ?? [])];
}

function medianHeight(rows: readonly HTMLElement[]): number | undefined {
  return rows.map(({ offsetHeight }) => offsetHeight).toSorted((a, b) => a - b)[Math.floor(rows.length / 2)];
}

/** The rows in view, and those that the keyboard leads to from the row with the focus. */
export function withFocused(range: Range, list: HTMLElement | null): number[] {
  const indexes = defaultRangeExtractor(range);
  const row = list?.contains(document.activeElement) && document.activeElement?.closest('[data-index]');
  if (!row) return indexes;
  const at = Number(row.getAttribute('data-index'));
  const wanted = [at - 1, at, at + 1].filter((one) => one >= 0 && one < range.count);
  return [...new Set([...indexes, ...wanted])].sort((a, b) => a - b);
}

function scrollerOf(list: HTMLElement | null): HTMLElement | null {
  for (let element = list; element !== null; element = element.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(element).overflowY)) return element;
  }
  return null;
}

/** Height of the content above the list. A note or a chart that has its data now changes it. */
function pxAbove(list: HTMLElement | null): number {
  const scroller = scrollerOf(list);
  if (list === null || scroller === null || scroller === list) return 0;
  const betweenPx = list.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
  return Math.round(betweenPx + scroller.scrollTop - scroller.clientTop);
}
