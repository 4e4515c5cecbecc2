import type { ReactNode } from 'react';

export interface PageProps {
  title: string;
  /** Beside the title: status, id. */
  aside?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({ title, aside, actions, children }: PageProps) {
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-4 px-4 py-5 sm:px-6">
      <header className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="line-clamp-2 min-w-0 text-xl font-semibold tracking-tight break-words">{title}</h1>
        {aside}
        {actions !== undefined && (
          <div className="ml-auto flex flex-wrap items-center gap-2 max-sm:has-[[type=search]]:w-full">{actions}</div>
        )}
      </header>
      {children}
    </div>
  );
}

/** A surface with a border; lists and forms are in one. */
export function Panel({ title, aside, actions, children }: Partial<PageProps>) {
  return (
    <section className="overflow-clip rounded-lg border border-line bg-surface">
      {title !== undefined && (
        <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2.5">
          <h2 className="min-w-0 text-sm font-semibold break-words">{title}</h2>
          {aside}
          {actions !== undefined && (
            <div className="ml-auto flex flex-wrap items-center gap-2 max-sm:has-[[type=search]]:w-full max-sm:*:has-[[type=search]]:basis-3/4">
              {actions}
            </div>
          )}
        </div>
      )}
      {children}
    </section>
  );
}
