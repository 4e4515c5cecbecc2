import type { ReactNode } from 'react';

/** Fields above a list: in a row, or on a phone in two columns of one width. */
export function FilterBar({ label, children }: { label: string; children: ReactNode }) {
  return (
    <search
      aria-label={label}
      className="grid grid-cols-2 items-center gap-2 *:min-w-0 sm:flex sm:flex-wrap max-sm:*:w-full max-sm:*:max-w-none"
    >
      {children}
    </search>
  );
}
