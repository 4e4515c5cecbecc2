import { Link, Outlet } from '@tanstack/react-router';
import { ConnectionBanner, RateNote } from './connection-banner.tsx';
import { portal } from './portal.ts';

/** Around the pages of the portal: a title, and the way back to the list. */
export function PortalShell() {
  return (
    <div className="flex h-full flex-col">
      <header className="flex h-12 shrink-0 items-center border-b border-line bg-surface px-4">
        <Link to="/webhooks" className="font-semibold tracking-tight">
          {portal?.title}
        </Link>
      </header>
      <main id="content" tabIndex={-1} className="min-w-0 flex-1 overflow-y-auto outline-none">
        <ConnectionBanner />
        <Outlet />
      </main>
      <RateNote />
    </div>
  );
}

export function PortalEnded() {
  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <div className="flex max-w-sm flex-col gap-2 rounded-lg border border-line bg-surface p-6" role="status">
        <h1 className="text-xl font-semibold tracking-tight">This link has ended</h1>
        <p className="text-sm text-ink-soft">Open this page again from where you came.</p>
      </div>
    </main>
  );
}
