import { classNames } from './class-names.ts';
import { Icon, type IconName } from './icons.tsx';

type Tone = 'good' | 'warn' | 'bad' | 'info' | 'calm';

const TONES: Record<Tone, string> = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  info: 'bg-info-soft text-info',
  calm: 'bg-sunken text-ink-soft',
};

/**
 * Statuses of the API, each with a colour and a shape, so that users need not distinguish colours.
 */
const STATUSES: Record<string, { tone: Tone; icon: IconName; word?: string }> = {
  active: { tone: 'good', icon: 'check' },
  inactive: { tone: 'calm', icon: 'pause' },
  ok: { tone: 'good', icon: 'check' },
  succeeded: { tone: 'good', icon: 'check' },
  delivered: { tone: 'good', icon: 'check' },
  error: { tone: 'bad', icon: 'cross' },
  failed: { tone: 'bad', icon: 'cross' },
  abandoned: { tone: 'bad', icon: 'cross' },
  pending: { tone: 'info', icon: 'clock' },
  sending: { tone: 'info', icon: 'play' },
  held: { tone: 'warn', icon: 'pause' },
  queued: { tone: 'info', icon: 'clock' },
  running: { tone: 'info', icon: 'play' },
  waiting: { tone: 'warn', icon: 'clock' },
  suspended: { tone: 'warn', icon: 'pause' },
  dropped: { tone: 'calm', icon: 'dash' },
  cancelled: { tone: 'calm', icon: 'dash' },
  exited: { tone: 'calm', icon: 'dash' },
  done: { tone: 'good', icon: 'check' },
  continued: { tone: 'warn', icon: 'cross' },
  rerun: { tone: 'warn', icon: 'clock' },
  missed: { tone: 'warn', icon: 'dash' },
};

export function Status({ of, label }: { of: string; label?: string }) {
  const { tone, icon } = STATUSES[of] ?? { tone: 'calm' as const, icon: 'dash' as const };
  return (
    <span
      className={classNames(
        'inline-flex items-center gap-1 rounded px-1.5 py-px text-xs font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      <Icon name={icon} className="size-3" />
      {label ?? of}
    </span>
  );
}
