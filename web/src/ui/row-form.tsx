import type { ReactNode } from 'react';
import { ProblemNote } from './problem.tsx';

interface RowFormProps {
  /** For a link to the form. */
  id?: string;
  onSubmit: () => void;
  /** Shown below the fields. */
  error: unknown;
  children: ReactNode;
}

/** A short form: its fields and its button stand side by side, as far as there is room. */
export function RowForm({ id, onSubmit, error, children }: RowFormProps) {
  return (
    <form
      id={id}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      className="flex flex-wrap items-end gap-3 p-4 max-sm:[&>div]:w-full sm:items-start sm:[&>button]:mt-6"
    >
      {children}
      <div className="basis-full empty:hidden">
        <ProblemNote error={error} />
      </div>
    </form>
  );
}
