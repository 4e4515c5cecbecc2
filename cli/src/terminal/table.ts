import { stripVTControlCharacters } from 'node:util';
import { safeLine, safeText } from './safe-text.ts';
import type { Style } from './style.ts';

export interface Column<T> {
  title: string;
  value(row: T): string;
  paint?(text: string, row: T): string;
}

export interface TableOptions {
  style: Style;
  /** Columns in line under their titles; else a line a row, with tabs between, for other programs. */
  aligned: boolean;
}

export function renderTable<T>(rows: readonly T[], columns: readonly Column<T>[], options: TableOptions): string {
  const cells = rows.map((row) => columns.map((column) => safeLine(column.value(row))));
  if (!options.aligned) return cells.map((row) => row.join('\t')).join('\n');
  const widths = columns.map(({ title }, at) => Math.max(width(title), ...cells.map((row) => width(row[at] ?? ''))));
  const pad = (text: string, at: number) =>
    at === columns.length - 1 ? '' : ' '.repeat((widths[at] ?? 0) - width(text) + 2);
  const head = columns.map(({ title }, at) => options.style.dim(title) + pad(title, at)).join('');
  const body = cells.map((row, rowAt) =>
    row.map((text, at) => paintCell(columns[at], text, rows[rowAt]) + pad(text, at)).join(''),
  );
  return [head, ...body].join('\n');
}

function paintCell<T>(column: Column<T> | undefined, text: string, row: T | undefined): string {
  return column?.paint === undefined || row === undefined ? text : column.paint(text, row);
}

function width(text: string): number {
  return Array.from(stripVTControlCharacters(text)).length;
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
