import { safeLine, safeText } from './safe-text.ts';
import type { Style } from './style.ts';
import { shorten, textWidth } from './text-width.ts';

export interface Column<T> {
  title: string;
  /** Never shortened: it is there to be copied. */
  whole?: boolean;
  value(row: T): string;
  paint?(text: string, row: T): string;
}

export interface TableOptions {
  style: Style;
  /**
   * Columns in line under their titles; else a line a row, with tabs between, for other programs.
   */
  aligned: boolean;
  /** Terminal width in characters; absent without a terminal. */
  width?: number | undefined;
}

const GAP = 2;
/** Minimum width of a shortened column. */
const MIN_WIDTH = 8;

export function renderTable<T>(rows: readonly T[], columns: readonly Column<T>[], options: TableOptions): string {
  const whole = rows.map((row) => columns.map((column) => safeLine(column.value(row))));
  if (!options.aligned) return whole.map((row) => row.join('\t')).join('\n');
  const widths = fit(widthsOf(columns, whole), columns, options.width);
  const cells = whole.map((row) => row.map((text, at) => shorten(text, widths[at] ?? 0)));
  const pad = (text: string, at: number) =>
    at === columns.length - 1 ? '' : ' '.repeat((widths[at] ?? 0) - textWidth(text) + GAP);
  const head = columns.map(({ title }, at) => options.style.dim(title) + pad(title, at)).join('');
  const body = cells.map((row, rowAt) =>
    row.map((text, at) => paintCell(columns[at], text, rows[rowAt]) + pad(text, at)).join(''),
  );
  return [head, ...body].join('\n');
}

function paintCell<T>(column: Column<T> | undefined, text: string, row: T | undefined): string {
  return column?.paint === undefined || row === undefined ? text : column.paint(text, row);
}

function widthsOf<T>(columns: readonly Column<T>[], cells: readonly (readonly string[])[]): number[] {
  const widths = columns.map(({ title }) => textWidth(title));
  for (const row of cells)
    for (const [at, text] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, textWidth(text));
  return widths;
}

/**
 * The widest give room until a row is a line; where nothing is left to give, it is wrapped as it
 * is.
 */
function fit<T>(wanted: readonly number[], columns: readonly Column<T>[], room = Number.POSITIVE_INFINITY): number[] {
  const widths = [...wanted];
  for (;;) {
    const total = widths.reduce((sum, width) => sum + width, GAP * (widths.length - 1));
    const widest = Math.max(...widths.map((width, at) => (columns[at]?.whole === true ? 0 : width)));
    if (total <= room || widest <= MIN_WIDTH) return widths;
    const at = widths.findIndex((width, index) => width === widest && columns[index]?.whole !== true);
    widths[at] = widest - 1;
  }
}

/** `name  value` lines; what has no value is left out. */
export function renderFields(fields: readonly (readonly [string, string | null | undefined])[], style: Style): string {
  const shown = fields.filter((field): field is [string, string] => field[1] !== undefined && field[1] !== null);
  const longest = Math.max(0, ...shown.map(([name]) => name.length));
  return shown
    .map(([name, value]) => `${style.dim(name.padEnd(longest + 2))}${indent(safeText(value), longest + 2)}`)
    .join('\n');
}

function indent(text: string, by: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(by)}`);
}
