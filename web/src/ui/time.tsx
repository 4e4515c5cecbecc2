import { useMemo, useSyncExternalStore } from 'react';

const TICK_MS = 10_000;
const subscribers = new Set<() => void>();
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all times on a page. */
function subscribe(listener: () => void): () => void {
  subscribers.add(listener);
  // The clock stood still without subscribers, so `nowMs` may be old.
  if (timer === undefined) nowMs = Date.now();
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const one of subscribers) one();
  }, TICK_MS);
  return () => {
    subscribers.delete(listener);
    if (subscribers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const UNITS: [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
});

function relativeTime(atMs: number, fromMs: number): string {
  const awayMs = atMs - fromMs;
  const [unit, ms] = UNITS.find(([, size]) => Math.abs(awayMs) >= size) ?? (['second', 1_000] as const);
  return relative.format(Math.round(awayMs / ms), unit);
}

interface TimeProps {
  /** Epoch milliseconds. */
  atMs: number;
  /** `clock`: `14:02:11.310`. Default: `2 min. ago`. */
  form?: 'relative' | 'clock';
}

/** A moment, with the exact time in the reader's zone on hover. */
export function Time({ atMs, form = 'relative' }: TimeProps) {
  return form === 'clock' ? <Moment atMs={atMs}>{clock.format(atMs)}</Moment> : <RelativeTime atMs={atMs} />;
}

function RelativeTime({ atMs }: { atMs: number }) {
  const now = useSyncExternalStore(subscribe, () => nowMs);
  return <Moment atMs={atMs}>{relativeTime(atMs, Math.max(now, atMs > now + TICK_MS ? now : atMs))}</Moment>;
}

function Moment({ atMs, children }: { atMs: number; children: string }) {
  const title = useMemo(() => exact.format(atMs), [atMs]);
  return (
    <time dateTime={new Date(atMs).toISOString()} title={title} className="tabular-nums whitespace-nowrap">
      {children}
    </time>
  );
}

/** `850 ms`, `2.4 s`, `3 min 20 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 3_600
    ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}
