import type { ComponentProps, SyntheticEvent } from 'react';
import { missingRight, type Right } from '../api/session.ts';
import { classNames } from './class-names.ts';

type Kind = 'primary' | 'plain' | 'quiet' | 'danger';

const KINDS: Record<Kind, string> = {
  primary: 'bg-accent text-on-accent border-transparent hover:bg-accent-strong',
  plain: 'bg-surface text-ink border-line-strong hover:bg-sunken',
  quiet: 'bg-transparent text-ink-soft border-transparent hover:bg-sunken hover:text-ink',
  danger: 'bg-surface text-bad border-line-strong hover:bg-bad-soft',
};

export interface ButtonProps extends ComponentProps<'button'> {
  kind?: Kind;
  size?: 'small' | 'normal';
  /** Work is under way: the button says so and takes no further click. */
  busy?: boolean;
  /**
   * The right that the user needs; without it the button is disabled and says why. Default:
   * `change` for primary and danger, nothing for others. null: nothing.
   */
  needs?: Right | null;
}

/** Enter in a field clicks the button of its form as well. */
function refuse(event: SyntheticEvent): void {
  event.preventDefault();
}

export function Button({
  kind = 'plain',
  size = 'normal',
  busy = false,
  needs = kind === 'primary' || kind === 'danger' ? 'change' : null,
  className,
  children,
  ...rest
}: ButtonProps) {
  const missing = needs === null ? undefined : missingRight(needs);
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled === true || missing !== undefined}
      title={missing ?? rest.title}
      // A button that is disabled loses the focus: one that works keeps it.
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      {...(busy ? { onClick: refuse } : {})}
      className={classNames(
        'inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none',
        'transition-colors disabled:opacity-55 aria-busy:opacity-55',
        size === 'small' ? 'h-7 px-2 text-xs' : 'h-8 px-3 text-sm',
        KINDS[kind],
        className,
      )}
    >
      {children}
    </button>
  );
}
