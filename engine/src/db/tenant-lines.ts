import type { Line } from './choose-share.ts';

/** Waiting items of each tenant, with the tenants in the order of their turns. */
export interface TenantLines<T> {
  all(): Iterable<[string, Line<T>]>;
  add(tenant: string, item: T): void;
  /** Before what waits. */
  putFirst(tenant: string, items: readonly T[]): void;
  /** The first ones of its line. */
  remove(tenant: string, part: Line<T>): void;
  moveToTheEnd(tenant: string): void;
  /** Items of all. */
  size(): number;
}

export function createTenantLines<T>(weightOf: (item: T) => number): TenantLines<T> {
  const lines = new Map<string, Line<T>>();
  let size = 0;
  const lineOf = (tenant: string): Line<T> => lines.get(tenant) ?? { items: [], weight: 0 };

  return {
    all: () => lines,
    add(tenant, item) {
      const line = lineOf(tenant);
      line.items.push(item);
      line.weight += weightOf(item);
      lines.set(tenant, line);
      size++;
    },
    putFirst(tenant, items) {
      const line = lineOf(tenant);
      const weight = items.reduce((sum, item) => sum + weightOf(item), line.weight);
      lines.set(tenant, { items: [...items, ...line.items], weight });
      size += items.length;
    },
    remove(tenant, part) {
      const { items, weight } = lineOf(tenant);
      size -= part.items.length;
      if (part.items.length === items.length) lines.delete(tenant);
      else lines.set(tenant, { items: items.slice(part.items.length), weight: weight - part.weight });
    },
    moveToTheEnd(tenant) {
      const left = lines.get(tenant);
      if (left === undefined) return;
      lines.delete(tenant);
      lines.set(tenant, left);
    },
    size: () => size,
  };
}
