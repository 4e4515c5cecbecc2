import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { Dialog } from '../ui/dialog.tsx';
import { INPUT_CLASS } from '../ui/field.tsx';
import { Icon } from '../ui/icons.tsx';
import { findEntries, namedThings, type PaletteEntry } from './palette-entries.ts';

const IS_MAC = navigator.platform.startsWith('Mac');
const TYPING_MS = 200;
/** Names are no longer. */
const MAX_ASKED_CHARS = 200;

/** The text as it was when the reader last stopped to type. */
function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}

/** Goes to anything by its name, or by an id that was pasted. */
export function Palette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <Button
        className="w-full justify-start text-ink-faint"
        aria-keyshortcuts="Control+K"
        onClick={() => setOpen(true)}
      >
        <Icon name="search" className="size-3.5" />
        Search
        <kbd aria-hidden="true" className="ml-auto rounded border border-line px-1 font-mono text-xs max-md:hidden">
          {IS_MAC ? '⌘K' : 'Ctrl K'}
        </kbd>
      </Button>
      <Dialog open={isOpen} onClose={() => setOpen(false)} title="Go to">
        <PaletteSearch onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function PaletteSearch({ onDone }: { onDone: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const listId = useId();
  const navigate = useNavigate();
  const asked = useRested(text.trim().slice(0, MAX_ASKED_CHARS));
  const { data: things = [], isFetching } = useQuery({
    queryKey: ['palette', asked],
    queryFn: ({ signal }) => namedThings(asked, signal),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
  const entries = findEntries(text, things);
  const chosen = Math.min(at, entries.length - 1);
  const go = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return;
    onDone();
    void navigate({ to: entry.path });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') go(entries[chosen]);
    if (step === undefined) return;
    event.preventDefault();
    setAt((chosen + step + entries.length) % Math.max(entries.length, 1));
  };
  return (
    <div>
      <input
        // A dialog that was opened to type into.
        autoFocus
        type="search"
        role="combobox"
        aria-label="Name or id"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={entries[chosen] === undefined ? undefined : `${listId}-${chosen}`}
        placeholder="A name, or an id such as dc_…, wh_…, exec_…"
        className={INPUT_CLASS}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id={listId} role="listbox" aria-label="Results" className="mt-2 max-h-80 overflow-y-auto">
        {entries.map((entry, index) => (
          <li
            key={entry.path}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => go(entry)}
            className={classNames(
              'flex cursor-pointer items-center gap-2.5 rounded-md px-2 py-1.5 text-sm',
              index === chosen && 'bg-accent-soft',
            )}
          >
            <Icon name={entry.icon} />
            <span className="min-w-0 truncate">{entry.label}</span>
            <span className="ml-auto shrink-0 font-mono text-xs text-ink-faint">{entry.hint}</span>
          </li>
        ))}
        {entries.length === 0 && (
          <li className="px-2 py-3 text-sm text-ink-faint">
            {isFetching || asked !== text.trim() ? 'Looking…' : 'Nothing has this name or id.'}
          </li>
        )}
      </ul>
    </div>
  );
}
