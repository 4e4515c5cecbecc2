import { Fragment, type KeyboardEvent, type ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { useLongList } from './long-list.ts';

const ROW_PX = 41;
const CELL = 'px-3 py-2 first:pl-4 last:pr-4 @max-2xl:px-2';

export interface Column<T> {
  header: string;
  cell: (row: T) => ReactNode;
  className?: string;
  /** Its text goes on in further lines where the table is narrow: a name is not cut on a phone. */
  wraps?: boolean;
  /** Left out where the table is narrow: on a phone, or beside something. */
  wide?: boolean;
  /** The column that has this one as a second line where the table is narrow. */
  under?: string;
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

/**
 * A dense list. `j` and `k` or the arrows move between rows, Enter opens one. Of a long one, only
 * the rows in view are drawn.
 */
export function Table<T>({ label, columns, rows, keyOf, onOpen, selected }: TableProps<T>) {
  const {
    list,
    rows: drawn,
    restPx,
    measure,
    isLong,
  } = useLongList<HTMLTableSectionElement>({
    count: rows.length,
    rowPx: ROW_PX,
    keyOf: (index) => keyOf(rows[index] as T),
  });
  const lastNarrow = columns.findLast((column) => !isWide(column));
  const cellOf = (column: Column<T>) =>
    classNames(CELL, isWide(column) && '@max-2xl:hidden', column === lastNarrow && '@max-2xl:pr-4', column.className);
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    if (event.target !== event.currentTarget) return;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') onOpen?.(rows[index] as T);
    if (step === undefined) return;
    event.preventDefault();
    list.current?.querySelector<HTMLElement>(`:scope > [data-index="${index + step}"]`)?.focus();
  };
  return (
    <div className="@container overflow-x-auto overflow-y-hidden">
      <table
        aria-label={label}
        aria-rowcount={isLong ? rows.length + 1 : undefined}
        className="w-full border-collapse text-sm"
      >
        <thead>
          <tr className="border-b border-line text-left text-xs text-ink-faint">
            {columns.map((column) => (
              <th
                key={column.header}
                scope="col"
                className={classNames('font-sans! font-medium text-ink-faint!', cellOf(column))}
              >
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={list} className="divide-y divide-line">
          {drawn.map(({ index, gapPx }) => {
            const row = rows[index] as T;
            return (
              <Fragment key={keyOf(row)}>
                <Gap px={gapPx} />
                <tr
                  ref={measure}
                  data-index={index}
                  aria-rowindex={isLong ? index + 2 : undefined}
                  tabIndex={onOpen === undefined ? undefined : 0}
                  aria-selected={selected === undefined ? undefined : selected === keyOf(row)}
                  onClick={() => onOpen?.(row)}
                  onKeyDown={(event) => onKeyDown(event, index)}
                  className={classNames(
                    'h-10 -outline-offset-2',
                    onOpen !== undefined && 'cursor-pointer hover:bg-sunken',
                    selected === keyOf(row) && 'bg-accent-soft',
                  )}
                >
                  {columns.map((column) => (
                    <td
                      key={column.header}
                      className={classNames(
                        'max-w-0 truncate',
                        column.wraps === true && '@max-2xl:break-words @max-2xl:whitespace-normal',
                        cellOf(column),
                      )}
                    >
                      {column.cell(row)}
                      {columns
                        .filter(({ under }) => under === column.header)
                        .map(({ header, cell }) => (
                          <span key={header} className="hidden truncate text-xs text-ink-soft @max-2xl:block">
                            {cell(row)}
                          </span>
                        ))}
                    </td>
                  ))}
                </tr>
              </Fragment>
            );
          })}
          <Gap px={restPx} />
        </tbody>
      </table>
    </div>
  );
}

function isWide<T>({ wide, under }: Column<T>): boolean {
  return wide === true || under !== undefined;
}

/** Stands for the rows that are not drawn. */
function Gap({ px }: { px: number }) {
  return px > 0 && <tr aria-hidden="true" style={{ height: px }} />;
}
