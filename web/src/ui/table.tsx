import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import { classNames } from './class-names.ts';

export interface Column<T> {
  header: string;
  cell: (row: T) => ReactNode;
  className?: string;
  /** Left out where the table is narrow: on a phone, or beside something. */
  wide?: boolean;
}

export interface TableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Opens a row: by a click, or Enter. */
  onOpen?: (row: T) => void;
  selected?: string | undefined;
}

/** A dense list. `j` and `k` or the arrows move between rows, Enter opens one. */
export function Table<T>({ label, columns, rows, keyOf, onOpen, selected }: TableProps<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const onKeyDown = (event: KeyboardEvent, row: T) => {
    if (event.target !== event.currentTarget) return;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') onOpen?.(row);
    if (step === undefined) return;
    event.preventDefault();
    const all = [...(body.current?.rows ?? [])];
    all[all.indexOf(event.currentTarget as HTMLTableRowElement) + step]?.focus();
  };
  return (
    <div className="@container overflow-x-auto">
      <table aria-label={label} className="w-full border-collapse text-sm">
        <thead>
          <tr className="border-b border-line text-left text-xs text-ink-faint">
            {columns.map(({ header, className, wide }) => (
              <th
                key={header}
                scope="col"
                className={classNames('px-3 py-2 font-medium', wide === true && '@max-2xl:hidden', className)}
              >
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} className="divide-y divide-line">
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              tabIndex={onOpen === undefined ? undefined : 0}
              aria-selected={selected === undefined ? undefined : selected === keyOf(row)}
              onClick={() => onOpen?.(row)}
              onKeyDown={(event) => onKeyDown(event, row)}
              className={classNames(
                'h-10 -outline-offset-2',
                onOpen !== undefined && 'cursor-pointer hover:bg-sunken',
                selected === keyOf(row) && 'bg-accent-soft',
              )}
            >
              {columns.map(({ header, cell, className, wide }) => (
                <td
                  key={header}
                  className={classNames('max-w-0 truncate px-3 py-2', wide === true && '@max-2xl:hidden', className)}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
