import { useEffect, useState } from 'react';
import { Dialog } from '../ui/dialog.tsx';

const KEYS: [keys: string, does: string][] = [
  ['Ctrl K or ⌘ K', 'find anything, or paste an id'],
  ['/', 'search in the list'],
  ['j and k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'close what is open'],
  ['?', 'this list'],
];

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Keys that work everywhere. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '?') setOpen(true);
      if (event.key === '/') {
        event.preventDefault();
        document.querySelector<HTMLInputElement>('main input[type=search]')?.focus();
      }
      if (event.key === 'j' || event.key === 'k') focusFirstRow(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <Dialog open={isOpen} onClose={() => setOpen(false)} title="Keyboard">
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2 text-sm">
        {KEYS.map(([keys, does]) => (
          <div key={keys} className="contents">
            <dt className="font-mono text-xs">{keys}</dt>
            <dd className="text-ink-soft">{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

/** Rows move the focus among themselves; the first one is reached from anywhere. */
function focusFirstRow(event: KeyboardEvent): void {
  if (event.target instanceof HTMLElement && event.target.closest('tr, [role=row]') !== null) return;
  document.querySelector<HTMLElement>('main tbody tr[tabindex], main [role=row][tabindex]')?.focus();
}
