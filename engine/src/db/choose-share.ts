/** Items of one tenant that wait or belong to a share. */
export interface Line<T> {
  items: T[];
  weight: number;
}

interface ShareBounds<T> {
  maxItems: number;
  maxWeight: number;
  /** Maximum weight of one tenant. */
  maxPart: number;
  weightOf: (item: T) => number;
}

/**
 * Takes one item of each line in turn while there is room. An item that is too heavy is left out.
 * The first item of all is taken whatever its weight, and so is, within its part, the first of a
 * tenant.
 */
export function chooseShare<T>(
  lines: readonly [string, Line<T>][],
  { maxItems, maxWeight, maxPart, weightOf }: ShareBounds<T>,
): { items: T[]; parts: Map<string, Line<T>> } {
  const items: T[] = [];
  const parts = new Map<string, Line<T>>();
  let weight = 0;
  for (let open = lines; open.length > 0 && items.length < maxItems; ) {
    open = open.filter(([tenant, line]) => {
      const part = parts.get(tenant) ?? { items: [], weight: 0 };
      const item = line.items[part.items.length];
      if (item === undefined || items.length === maxItems) return false;
      const more = weightOf(item);
      if (items.length > 0 && weight + more > maxWeight) return false;
      if (part.items.length > 0 && part.weight + more > maxPart) return false;
      weight += more;
      part.weight += more;
      part.items.push(item);
      parts.set(tenant, part);
      items.push(item);
      return true;
    });
  }
  return { items, parts };
}
