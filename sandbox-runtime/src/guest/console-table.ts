import { listShownKeys } from './node/array-keys.ts';
import { inspect } from './node/inspect.ts';
import { types } from './node/util-types.ts';

const INDEX = '(index)';
const ITERATION = '(iteration index)';
const VALUES = 'Values';
/** The rows of a larger value beyond this are not laid out. */
const MAX_ROWS = 1_000;

/**
 * The table that `console.table` shows, laid out as in Node 24. Undefined for a value that has no
 * rows: it is shown as by `console.log`.
 */
export function tableOf(value: unknown, columns?: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (types.isMap(value)) {
    const pairs = [...(value as Map<unknown, unknown>)].slice(0, MAX_ROWS);
    const rows = pairs.map(([key, item], index) => [`${index}`, shown(key), shown(item)]);
    return render([ITERATION, 'Key', VALUES], rows);
  }
  const isSet = types.isSet(value);
  const rows: [string, unknown][] = isSet
    ? [...(value as Set<unknown>)].slice(0, MAX_ROWS).map((item, index) => [`${index}`, item])
    : rowKeys(value)
        .slice(0, MAX_ROWS)
        .map((key) => [key, (value as Record<string, unknown>)[key]]);
  const chosen = Array.isArray(columns) ? columns.map(String) : undefined;
  return render(...cells(isSet ? ITERATION : INDEX, rows, chosen));
}

/** Lists the first rows alone: a view of megabytes has millions of indexes. */
function rowKeys(value: object): string[] {
  const isList = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
  return isList ? listShownKeys(value as unknown as ArrayLike<unknown>, 0, MAX_ROWS) : Object.keys(value);
}

function cells(index: string, rows: [string, unknown][], chosen: string[] | undefined): [string[], string[][]] {
  const names = new Set(chosen);
  if (chosen === undefined)
    for (const [, item] of rows) if (hasMembers(item)) for (const name of Object.keys(item)) names.add(name);
  const hasValues = rows.some(([, item]) => !hasMembers(item));
  const head = [index, ...names, ...(hasValues ? [VALUES] : [])];
  const body = rows.map(([key, item]) => {
    const members = [...names].map((name) =>
      hasMembers(item) && Object.hasOwn(item, name) ? shown((item as Record<string, unknown>)[name]) : '',
    );
    return [key, ...members, ...(hasValues ? [hasMembers(item) ? '' : shown(item)] : [])];
  });
  return [head, body];
}

function hasMembers(item: unknown): item is object {
  return (typeof item === 'object' && item !== null) || typeof item === 'function';
}

function shown(value: unknown): string {
  const depth = typeof value === 'object' && value !== null && !Array.isArray(value) && hasManyKeys(value) ? -1 : 0;
  return inspect(value, { maxArrayLength: 3, breakLength: Infinity, depth });
}

function hasManyKeys(value: object): boolean {
  return Object.keys(value).length > 2;
}

function render(head: string[], rows: string[][]): string {
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => (row[at] ?? '').length)) + 2);
  const lines = widths.map((width) => '─'.repeat(width));
  const line = (items: string[]): string =>
    `│${items.map((item, at) => ` ${item}${' '.repeat((widths[at] as number) - item.length - 1)}`).join('│')}│\n`;
  const body = rows.map(line).join('');
  return `┌${lines.join('┬')}┐\n${line(head)}├${lines.join('┼')}┤\n${body}└${lines.join('┴')}┘`;
}
