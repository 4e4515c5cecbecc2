import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { ExactNumber, writeExact } from '../api/exact-json.ts';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { CopyButton } from './copy.tsx';
import { Icon } from './icons.tsx';
import { type JsonRow, jsonRows, openedAtFirst } from './json-rows.ts';

const ROW_PX = 22;
const MAX_SHOWN_CHARS = 2_000;

interface JsonTreeProps {
  value: unknown;
  label: string;
  maxHeight?: number;
  /** Makes values choices: gets the path from the root, as `$.items[0]`. */
  onPick?: (path: string) => void;
}

/**
 * A payload to walk through: folds, copies a path or a value, and shows only the rows that are in
 * view.
 */
export function JsonTree({ value, label, maxHeight = 480, onPick }: JsonTreeProps) {
  const [open, setOpen] = useState(() => openedAtFirst(value));
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => jsonRows(value, open), [value, open]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 20,
  });
  const toggle = (path: string) => {
    const next = new Set(open);
    if (!next.delete(path)) next.add(path);
    setOpen(next);
  };
  return (
    <div
      ref={scroller}
      // A list with buttons is no tree: items of a tree cannot be pressed.
      role={onPick === undefined ? 'tree' : 'group'}
      aria-label={label}
      tabIndex={0}
      className="overflow-auto rounded-md border border-line bg-sunken py-1 font-mono text-xs"
      style={{ maxHeight }}
    >
      <div className="relative w-max min-w-full" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map((item) => {
          const row = rows[item.index] as JsonRow;
          return (
            <div
              key={row.path}
              // The buttons of a row are in it: nothing but items may be in a tree.
              role={onPick === undefined ? 'treeitem' : undefined}
              aria-expanded={onPick === undefined && row.size !== undefined ? open.has(row.path) : undefined}
              className="group absolute inset-x-0 flex items-center gap-1 pr-2 hover:bg-accent-soft"
              style={{ height: ROW_PX, transform: `translateY(${item.start}px)`, paddingLeft: 8 + row.depth * 16 }}
            >
              <Row
                row={row}
                isOpen={open.has(row.path)}
                onToggle={() => toggle(row.path)}
                {...(onPick === undefined ? {} : { onPick: () => onPick(row.path) })}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface RowProps {
  row: JsonRow;
  isOpen: boolean;
  onToggle: () => void;
  onPick?: () => void;
}

function Row({ row, isOpen, onToggle, onPick }: RowProps) {
  const isFolder = row.size !== undefined;
  return (
    <>
      {isFolder ? (
        <button type="button" aria-expanded={isOpen} onClick={onToggle} className="flex items-center gap-1">
          <Icon name="chevron" className={classNames('size-3 text-ink-faint', isOpen && 'rotate-90')} />
          {row.name !== undefined && <span className="text-code-key">{row.name}:</span>}
          <span className="text-ink-faint">{row.isList === true ? `[${row.size}]` : `{${row.size}}`}</span>
        </button>
      ) : (
        <span className="flex items-center gap-1 pl-4 whitespace-pre">
          {row.name !== undefined && <span className="text-code-key">{row.name}:</span>}
          <Scalar value={row.value} />
        </span>
      )}
      {onPick !== undefined && (
        <Button kind="quiet" size="small" className="h-5" aria-label={`Use ${row.path}`} onClick={onPick}>
          Use
        </Button>
      )}
      <span className="invisible sticky right-1 ml-auto flex bg-sunken group-focus-within:visible group-hover:visible">
        <CopyButton text={row.path} what={`path ${row.path}`} />
        <CopyButton
          text={typeof row.value === 'string' ? row.value : writeExact(row.value)}
          what={`value of ${row.path}`}
        />
      </span>
    </>
  );
}

function Scalar({ value }: { value: unknown }) {
  if (typeof value === 'string') {
    const text = JSON.stringify(value);
    const isCut = text.length > MAX_SHOWN_CHARS;
    return (
      // Right-to-left text stays inside its quotes.
      <bdi className="text-code-string">
        {isCut ? `${text.slice(0, MAX_SHOWN_CHARS)}… (${value.length} characters)` : text}
      </bdi>
    );
  }
  if (typeof value === 'number' || value instanceof ExactNumber)
    return <span className="text-code-number">{String(value)}</span>;
  return <span className="text-code-atom">{String(value)}</span>;
}
