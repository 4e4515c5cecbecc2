import type { StreamState } from '../api/event-stream.ts';
import { classNames } from './class-names.ts';

const WORDS: Record<StreamState, string> = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  refused: 'Not live',
};

export function LiveBadge({ state }: { state: StreamState }) {
  return (
    <span role="status" className="flex items-center gap-1.5 text-xs text-ink-soft">
      <span
        className={classNames(
          'size-2 rounded-full',
          state === 'live' ? 'bg-good' : 'border border-warn bg-transparent',
        )}
      />
      {WORDS[state]}
    </span>
  );
}
