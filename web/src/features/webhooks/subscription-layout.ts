import type { Subscription } from './webhook-queries.ts';

/** Sources on the left, workflows in the middle, webhooks on the right. */
export type Column = 0 | 1 | 2;

export interface PlacedNode {
  id: string;
  column: Column;
  row: number;
}

export interface PlacedEdge {
  subscription: Subscription;
  from: PlacedNode;
  to: PlacedNode;
}

export interface Layout {
  nodes: PlacedNode[];
  edges: PlacedEdge[];
  /** Height of the picture, in rows. */
  rows: number;
  /** Workflows between the sources and the webhooks. */
  between: number;
}

function columnOf(id: string): Column {
  if (id.startsWith('wh_')) return 2;
  return id.startsWith('p_') ? 1 : 0;
}

/**
 * A place for each end of the subscriptions. Listeners are in the order of those that they listen
 * to, so that few lines cross.
 */
export function layoutOf(subscriptions: readonly Subscription[]): Layout {
  const places = new Map<string, PlacedNode>();
  const counts: [number, number, number] = [0, 0, 0];
  const place = (id: string) => {
    const column = columnOf(id);
    const node = places.get(id) ?? { id, column, row: counts[column]++ };
    places.set(id, node);
    return node;
  };
  for (const { emitter_id: id } of subscriptions) if (columnOf(id) === 0) place(id);
  const meanRow = (listener: string, column: Column) => {
    const rows = subscriptions
      .filter((one) => one.listener_id === listener && columnOf(one.emitter_id) <= column)
      .flatMap(({ emitter_id: id }) => places.get(id)?.row ?? []);
    return rows.length === 0 ? Infinity : rows.reduce((sum, row) => sum + row, 0) / rows.length;
  };
  for (const column of [1, 2] as const) {
    const ids = new Set(subscriptions.flatMap((one) => [one.emitter_id, one.listener_id]));
    const own = [...ids].filter((id) => columnOf(id) === column).map((id) => ({ id, at: meanRow(id, column) }));
    // Infinity minus itself is no number.
    for (const { id } of own.toSorted((a, b) => (a.at === b.at ? 0 : a.at - b.at))) place(id);
  }
  const edges = subscriptions.map((subscription) => ({
    subscription,
    from: place(subscription.emitter_id),
    to: place(subscription.listener_id),
  }));
  return { nodes: [...places.values()], edges, rows: Math.max(...counts), between: counts[1] };
}
