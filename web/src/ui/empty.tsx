import type { ReactNode } from 'react';
import { portal } from '../app/portal.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icons.tsx';

/** An empty list says what would be in it, and has a button that makes the first one. */
export function Empty(props: {
  icon: IconName;
  title: string;
  children: ReactNode;
  action?: ReactNode;
  command?: string;
}) {
  const { icon, title, children, action, command } = props;
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-14 text-center">
      <span className="flex size-10 items-center justify-center rounded-full bg-accent-soft text-accent">
        <Icon name={icon} className="size-5" />
      </span>
      <h2 className="text-lg font-semibold">{title}</h2>
      <div className="max-w-md text-sm text-ink-soft">{children}</div>
      {action !== undefined && (
        <div className="mt-2 flex flex-wrap items-start justify-center gap-2 empty:hidden">{action}</div>
      )}
      {/* A customer in a portal has no command line. */}
      {command !== undefined && portal === undefined && (
        <code className="mt-2 max-w-full rounded bg-sunken px-2 py-1 font-mono text-xs break-words text-ink-soft">
          {command}
        </code>
      )}
    </div>
  );
}

/** Look of a link that is the next step of an empty list. */
export const STEP_CLASS =
  'inline-flex h-8 items-center rounded-md bg-accent px-3 text-sm font-medium text-on-accent hover:bg-accent-strong';

/** The next step of a list whose form stands above it: the first field of that form. */
export function ToForm({ form, children }: { form: string; children: ReactNode }) {
  const go = () => document.getElementById(form)?.querySelector<HTMLElement>('input, select')?.focus();
  return (
    <Button kind="primary" onClick={go}>
      {children}
    </Button>
  );
}

interface NoMatchProps {
  noun: string;
  text: string;
  /** The texts that the server looks in. */
  places: string;
  onClear: () => void;
}

/** A search that found nothing. */
export function NoMatch({ noun, text, places, onClear }: NoMatchProps) {
  return (
    <Empty
      icon="search"
      title={`No ${noun} matches “${text}”`}
      action={<Button onClick={onClear}>Clear the search</Button>}
    >
      The search looks in {places}. Shorten the text to find more.
    </Empty>
  );
}
