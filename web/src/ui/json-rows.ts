import { ExactNumber } from '../api/exact-json.ts';

export interface JsonRow {
  /** `$.items[2].name`: what people paste into expressions. */
  path: string;
  depth: number;
  /** The name of a member, or the index of an item; absent at the root. */
  name?: string;
  value: unknown;
  /** Number of members; absent for other values. */
  size?: number;
  isList?: boolean;
}

/** The rows that a tree shows. Paths in `open` show their members. Stops at `maxRows`. */
export function jsonRows(root: unknown, open: ReadonlySet<string>, maxRows = 200_000): JsonRow[] {
  const rows: JsonRow[] = [];
  // Not recursive: a payload may be nested deeper than the stack.
  const waiting: JsonRow[] = [rowOf('$', 0, root)];
  while (waiting.length > 0 && rows.length < maxRows) {
    const row = waiting.pop() as JsonRow;
    rows.push(row);
    if (row.size === undefined || !open.has(row.path)) continue;
    const members = Object.entries(row.value as object);
    for (let at = members.length - 1; at >= 0; at--) {
      const [name, value] = members[at] as [string, unknown];
      waiting.push(rowOf(pathOf(row, name), row.depth + 1, value, name));
    }
  }
  return rows;
}

function rowOf(path: string, depth: number, value: unknown, name?: string): JsonRow {
  const base = { path, depth, value, ...(name === undefined ? {} : { name }) };
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return base;
  return { ...base, size: Object.keys(value).length, isList: Array.isArray(value) };
}

function pathOf(parent: JsonRow, name: string): string {
  if (parent.isList === true) return `${parent.path}[${name}]`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${parent.path}.${name}` : `${parent.path}[${JSON.stringify(name)}]`;
}

/** Initially open paths: the root, and small values below it. */
export function openedAtFirst(root: unknown, maxShown = 60): Set<string> {
  const open = new Set<string>(['$']);
  let shown = jsonRows(root, open, maxShown + 1);
  for (let depth = 1; depth < 6 && shown.length <= maxShown; depth++) {
    const deeper = new Set(open);
    for (const row of shown) if (row.depth === depth && row.size !== undefined) deeper.add(row.path);
    shown = jsonRows(root, deeper, maxShown + 1);
    if (shown.length > maxShown) break;
    for (const path of deeper) open.add(path);
  }
  return open;
}
