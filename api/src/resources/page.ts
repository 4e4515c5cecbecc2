import type { Page } from '@headwater/engine';

export function mapPage<A, B>(page: Page<A>, present: (item: A) => B): Page<B> {
  return { ...page, items: page.items.map(present) };
}

/** A list that is answered whole. */
export function wholePage<T>(items: T[], idOf: (item: T) => string): Page<T> {
  const first = items[0];
  const last = items.at(-1);
  return {
    items,
    total: items.length,
    ...(first === undefined ? {} : { startCursor: idOf(first) }),
    ...(last === undefined ? {} : { endCursor: idOf(last) }),
  };
}

export function pageInfo(page: Page<unknown>) {
  return {
    total_count: page.total,
    count: page.items.length,
    start_cursor: page.startCursor ?? null,
    end_cursor: page.endCursor ?? null,
  };
}
