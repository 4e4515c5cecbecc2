import type { Page, PageRequest } from '@headwater/engine';
import { HeadwaterError } from '@headwater/shared';

/** For descriptions of lists that are exported. */
export const EXPORT =
  'With `accept: application/x-ndjson` all of them are answered, a record a line, newest first, whole, and page after page as the client takes them. An export that ends early breaks the connection off: go on behind its last record.';

export function mapPage<A, B>(page: Page<A>, present: (item: A) => B): Page<B> {
  return { ...page, items: page.items.map(present) };
}

/** For endpoints of resources that have revisions. */
export function versioned<A extends { revision: number }, B>(record: A, present: (record: A) => B) {
  return { item: present(record), revision: record.revision };
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

/**
 * A page of a list that is there whole. Cursors are ids of its items; throws INVALID_REQUEST for
 * any other.
 */
export function pageWithin<T>(items: T[], idOf: (item: T) => string, { limit, after, before }: PageRequest): Page<T> {
  const indexOf = (name: string, id: string) => {
    const index = items.findIndex((item) => idOf(item) === id);
    if (index >= 0) return index;
    const message = 'is not a cursor of this list';
    throw new HeadwaterError('INVALID_REQUEST', `${name} ${message}`, { fields: [{ path: name, message }] });
  };
  const from = after === undefined ? 0 : indexOf('after', after) + 1;
  const to = before === undefined ? items.length : indexOf('before', before);
  const isUpward = before !== undefined && after === undefined;
  const shown = isUpward ? items.slice(Math.max(0, to - limit), to) : items.slice(from, Math.min(to, from + limit));
  return { ...wholePage(shown, idOf), total: items.length };
}

export function pageInfo(page: Page<unknown>) {
  return {
    total_count: page.total,
    count: page.items.length,
    start_cursor: page.startCursor ?? null,
    end_cursor: page.endCursor ?? null,
    ...(page.scannedUntilMs === undefined ? {} : { scanned_until: page.scannedUntilMs }),
  };
}
