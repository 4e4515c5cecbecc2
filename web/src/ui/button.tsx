import type { ComponentProps } from 'react';
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
}

export function Button({ kind = 'plain', size = 'normal', busy = false, className, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled === true || busy}
      aria-busy={busy || undefined}
      className={classNames(
        'inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none',
        'transition-colors disabled:opacity-55',
        size === 'small' ? 'h-7 px-2 text-xs' : 'h-8 px-3 text-sm',
        KINDS[kind],
        className,
      )}
    >
      {children}
    </button>
  );
}
