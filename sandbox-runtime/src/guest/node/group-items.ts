export interface Grouping {
  breakLength: number;
  indentation: number;
  /** Above zero. */
  compact: number;
  /** The last item tells of those that are left out, and has a line of its own. */
  hasRest: boolean;
}

/** Node's limit of columns in a line. */
const MAX_COLUMNS = 15;
const SEPARATOR_CHARS = 2;
/** A character is about this many times as high as wide; the aim is a square. */
const CHAR_HEIGHTS = 2.5;

/**
 * Puts the items of a long list into columns, as Node 24 does. At least three must fit in a line,
 * and their lengths must be similar. Returns the lines, or the items unchanged.
 */
export function groupItems(items: string[], values: ArrayLike<unknown>, grouping: Grouping): string[] {
  const { breakLength, indentation, compact, hasRest } = grouping;
  const count = hasRest ? items.length - 1 : items.length;
  const lengths = items.slice(0, count).map((item) => item.length);
  const total = lengths.reduce((sum, length) => sum + length + SEPARATOR_CHARS, 0);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const width = longest + SEPARATOR_CHARS;
  const isEven = total / width > 5 || longest <= 6;
  if (width * 3 + indentation >= breakLength || !isEven) return items;
  const bias = Math.sqrt(width - total / items.length);
  const biased = Math.max(width - 3 - bias, 1);
  const columns = Math.min(
    Math.round(Math.sqrt(CHAR_HEIGHTS * biased * count) / biased),
    Math.floor((breakLength - indentation) / width),
    compact * 4,
    MAX_COLUMNS,
  );
  if (columns <= 1) return items;
  const widths = Array.from({ length: columns }, (_, column) => {
    let most = 0;
    for (let at = column; at < count; at += columns) most = Math.max(most, lengths[at] ?? 0);
    return most + SEPARATOR_CHARS;
  });
  const isNumeric = items.every((_, at) => typeof values[at] === 'number' || typeof values[at] === 'bigint');
  const lines: string[] = [];
  for (let at = 0; at < count; at += columns) {
    const row = items.slice(at, Math.min(at + columns, count));
    const cells = row.map((item, column) => {
      const isLast = column === row.length - 1;
      const cell = isLast ? item : `${item}, `;
      const size = (widths[column] ?? 0) - (isLast ? SEPARATOR_CHARS : 0);
      if (isNumeric) return cell.padStart(size);
      return isLast ? cell : cell.padEnd(size);
    });
    lines.push(cells.join(''));
  }
  return hasRest ? [...lines, items.at(-1) ?? ''] : lines;
}
