import { useIsFetching, useQueryClient } from '@tanstack/react-query';
import { type AnyRoute, Link, Outlet, useNavigate, useRouter, useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { signOut, switchAccount } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { Icon } from '../ui/icons.tsx';
import { ConnectionBanner, RateNote } from './connection-banner.tsx';
import { navigationOf } from './navigation.ts';
import { Palette } from './palette.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

const PAGES_AFTER_MS = 1_000;

/** Navigation, palette and account around every page. */
export function Shell() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => setMenuOpen(false), [path]);
  useLoadedPages();
  return (
    <div className="flex h-full flex-col md:flex-row">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-raised focus:p-2">
        Skip to content
      </a>
      <TopBar onMenu={() => setMenuOpen(!isMenuOpen)} isMenuOpen={isMenuOpen} />
      <Sidebar isOpen={isMenuOpen} />
      <main id="content" tabIndex={-1} className="min-w-0 flex-1 overflow-y-auto outline-none">
        <ConnectionBanner />
        <RoleNote />
        <Outlet />
      </main>
      <Shortcuts />
      <RateNote />
    </div>
  );
}

/**
 * The code of all pages, a while after the first is shown: the others open at once, also while the
 * server restarts.
 */
function useLoadedPages(): void {
  const router = useRouter();
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const route of Object.values<AnyRoute>(router.routesById))
        void router.loadRouteChunk(route)?.catch(() => undefined);
    }, PAGES_AFTER_MS);
    return () => clearTimeout(timer);
  }, [router]);
}

function TopBar({ onMenu, isMenuOpen }: { onMenu: () => void; isMenuOpen: boolean }) {
  return (
    <div className="flex h-12 shrink-0 items-center gap-2 border-b border-line bg-surface px-3 md:hidden">
      <Button
        kind="quiet"
        aria-label="Menu"
        aria-expanded={isMenuOpen}
        aria-controls="navigation"
        onClick={onMenu}
        className="px-2"
      >
        <Icon name={isMenuOpen ? 'cross' : 'menu'} />
      </Button>
      <Logo />
    </div>
  );
}

function Logo() {
  return (
    <span className="flex items-center gap-2 font-semibold tracking-tight">
      <img src="./assets/icon.svg" alt="" className="size-5" />
      Headwater
    </span>
  );
}

function Sidebar({ isOpen }: { isOpen: boolean }) {
  const role = useSession()?.role ?? 'account';
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <div
      id="navigation"
      className={classNames(
        'w-full shrink-0 flex-col gap-3 border-r border-line bg-surface p-3 md:flex md:h-full md:w-52',
        isOpen ? 'flex' : 'hidden',
      )}
    >
      <div className="flex items-center justify-between px-1.5 pt-1 max-md:hidden">
        <Logo />
        <Activity />
      </div>
      <Palette />
      <nav aria-label="Main" className="flex flex-col gap-0.5">
        {navigationOf(role).map(({ to, label, icon, also = [] }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: to === '/' }}
            data-within={also.some((beginning) => path.startsWith(beginning)) || undefined}
            className="flex h-8 items-center gap-2.5 rounded-md px-2 text-sm text-ink-soft hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent-strong data-within:bg-accent-soft data-within:font-medium data-within:text-accent-strong"
          >
            <Icon name={icon} />
            {label}
          </Link>
        ))}
      </nav>
      <Link to="/docs" className="px-2 text-xs text-ink-faint hover:text-ink">
        API reference
      </Link>
      <Account />
    </div>
  );
}

/** Tells a user who may change nothing why so many buttons are off, also without a pointer. */
function RoleNote() {
  const { member = null, key = null } = useSession() ?? {};
  if ((member ?? key)?.rights.includes('change') ?? true) return null;
  return (
    <p className="border-b border-line bg-surface px-4 py-1.5 text-xs text-ink-soft sm:px-6">
      {member === null
        ? 'With your API key, whose scope is read, you see everything but secrets, and change nothing here. Sign in with another key to make changes.'
        : `As a ${member.role} of this account you read everything but secrets, and change nothing. An admin can give you another role.`}
    </p>
  );
}

/** Something is being fetched: said quietly, beside the name. */
function Activity() {
  const isBusy = useIsFetching() > 0;
  return (
    <span
      aria-hidden="true"
      className={classNames(
        'size-1.5 rounded-full transition-opacity duration-500',
        isBusy ? 'bg-accent opacity-100' : 'opacity-0',
      )}
    />
  );
}

function Account() {
  const session = useSession();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const who = session?.member ? `${session.member.email} · ${session.member.role}` : (session?.username ?? 'admin key');
  const leave = async () => {
    await signOut();
    queries.clear();
    await navigate({ to: '/sign-in' });
  };
  return (
    <div className="mt-auto flex items-center gap-1 border-t border-line pt-3">
      <div className="min-w-0 flex-1 px-1.5">
        <AccountName />
        <p className="truncate text-xs text-ink-faint" title={who}>
          {who}
        </p>
      </div>
      <ThemeSwitch />
      <Button kind="quiet" size="small" onClick={() => void leave()}>
        Sign out
      </Button>
    </div>
  );
}

/** A member of several accounts chooses here which one this tab shows. */
function AccountName() {
  const session = useSession();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const accounts = session?.member?.accounts ?? [];
  const go = async (accountId: string) => {
    await switchAccount(accountId);
    queries.clear();
    await navigate({ to: '/' });
  };
  if (accounts.length < 2) return <p className="truncate text-sm font-medium">{session?.account_name ?? 'Operator'}</p>;
  return (
    <select
      aria-label="Account"
      className="w-full truncate rounded-md border border-line bg-surface text-sm font-medium"
      value={session?.account_id ?? ''}
      onChange={({ target }) => void go(target.value)}
    >
      {accounts.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
