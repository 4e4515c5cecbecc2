import { FILTER_CLASS } from './field.tsx';

/**
 * As it stands in the URL; `range` is one of RANGES, or absent where the times are given, or any
 * time is meant.
 */
export interface TimeRangeValue {
  range?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

const RANGES: readonly [range: string, label: string, ms: number][] = [
  ['15m', 'Last 15 minutes', 15 * 60_000],
  ['1h', 'Last hour', 3_600_000],
  ['24h', 'Last 24 hours', 86_400_000],
  ['7d', 'Last 7 days', 7 * 86_400_000],
];

const CUSTOM = 'custom';

/** Times for the API's query. A range begins at the current time minus its length. */
export function timesOf({ range, since, until }: TimeRangeValue): { since?: string; until?: string } {
  const ms = RANGES.find(([name]) => name === range)?.[2];
  // By the minute: each new text would be another list.
  if (ms !== undefined) return { since: String(Math.floor((Date.now() - ms) / 60_000) * 60_000) };
  return {
    ...(since === undefined || since === '' ? {} : { since: isoOf(since) }),
    ...(until === undefined || until === '' ? {} : { until: isoOf(until) }),
  };
}

/** Inputs give local time without a zone. */
function isoOf(local: string): string {
  const ms = Date.parse(local);
  return Number.isNaN(ms) ? local : new Date(ms).toISOString();
}

export function TimeRange({ value, onChange }: { value: TimeRangeValue; onChange: (value: TimeRangeValue) => void }) {
  const { range, since, until } = value;
  const isCustom = range === CUSTOM || since !== undefined || until !== undefined;
  const input = (label: string, name: 'since' | 'until') => (
    <label className="flex items-center gap-2 text-xs text-ink-soft max-sm:col-span-full">
      <span className="max-sm:w-8">{label}</span>
      <input
        type="datetime-local"
        step={1}
        className={`${FILTER_CLASS} min-w-0 max-sm:flex-1`}
        value={value[name] ?? ''}
        onChange={({ target }) => onChange({ range: CUSTOM, since, until, [name]: target.value || undefined })}
      />
    </label>
  );
  return (
    <>
      <select
        aria-label="Time"
        className={FILTER_CLASS}
        value={isCustom ? CUSTOM : (range ?? '')}
        onChange={({ target }) => onChange({ range: target.value || undefined })}
      >
        <option value="">Any time</option>
        {RANGES.map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
        <option value={CUSTOM}>From … to …</option>
      </select>
      {isCustom && (
        <>
          {input('From', 'since')}
          {input('To', 'until')}
        </>
      )}
    </>
  );
}
