import { Link } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { type StreamMessage, useEventStream } from '../../api/event-stream.ts';
import { classNames } from '../../ui/class-names.ts';
import { Empty } from '../../ui/empty.tsx';
import { FILTER_CLASS } from '../../ui/field.tsx';
import { LiveBadge } from '../../ui/live-badge.tsx';
import { useLongList } from '../../ui/long-list.ts';
import { Panel } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import type { Source } from './source-queries.ts';

interface LogLine {
  id: string;
  indexed_at_ms: number;
  event: { level?: string; message?: string; run_id?: string };
  metadata: { trace_id: string | null };
}

const MAX_KEPT = 2_000;
const LINE_PX = 20;

const LEVELS: Record<string, string> = { error: 'text-bad', warn: 'text-warn', debug: 'text-ink-faint' };

const RANKS = ['debug', 'info', 'warn', 'error'];

/** A line without a level is an ordinary one. */
function rankOf(level = 'info'): number {
  const rank = RANKS.indexOf(level === 'log' ? 'info' : level);
  return rank === -1 ? 1 : rank;
}

/** Live view of the component's `console` output. */
export function SourceLogs({ source }: { source: Source }) {
  const [lines, setLines] = useState<LogLine[]>([]);
  const onMessages = useCallback((messages: StreamMessage[]) => {
    const fresh = messages.map(({ data }) => JSON.parse(data) as LogLine).reverse();
    setLines((old) => [...fresh, ...old].slice(0, MAX_KEPT));
  }, []);
  const [level, setLevel] = useState('');
  const shown = lines.filter(({ event }) => level === '' || rankOf(event.level) >= rankOf(level));
  const state = useEventStream({ path: `/v1/sources/${source.id}/logs`, onMessages });
  return (
    <Panel
      title="Logs"
      actions={
        <>
          <select
            aria-label="Level"
            className={FILTER_CLASS}
            value={level}
            onChange={({ target }) => setLevel(target.value)}
          >
            <option value="">every level</option>
            {RANKS.slice(1).map((name) => (
              <option key={name} value={name}>
                {name} and worse
              </option>
            ))}
          </select>
          <LiveBadge state={state} />
        </>
      }
    >
      {lines.length > 0 && shown.length === 0 && (
        <p className="p-4 text-sm text-ink-soft">None of the {lines.length} newest lines is that bad.</p>
      )}
      {lines.length === 0 ? (
        <Empty icon="trace" title="No log lines" command={`hw logs ${source.name_slug} -f`}>
          What the component writes with console.log, and the errors of its runs, appear here.
        </Empty>
      ) : (
        <LogLines lines={shown} />
      )}
    </Panel>
  );
}

function LogLines({ lines }: { lines: readonly LogLine[] }) {
  const { list, rows, restPx, measure } = useLongList<HTMLOListElement>({
    count: lines.length,
    rowPx: LINE_PX,
    keyOf: (index) => (lines[index] as LogLine).id,
  });
  return (
    <ol ref={list} aria-label="Log lines" className="max-h-[65vh] overflow-y-auto py-1 font-mono text-xs">
      {rows.map(({ index, gapPx }) => {
        const line = lines[index] as LogLine;
        return (
          <li
            key={line.id}
            ref={measure}
            data-index={index}
            style={{ marginTop: gapPx }}
            className="flex gap-3 px-3 py-0.5 hover:bg-sunken"
          >
            <span className="shrink-0 text-ink-faint">
              <Time atMs={line.indexed_at_ms} form="clock" />
            </span>
            <span className={classNames('w-10 shrink-0', LEVELS[line.event.level ?? ''])}>{line.event.level}</span>
            <span className="min-w-0 flex-1 break-words whitespace-pre-wrap">{line.event.message}</span>
            {line.metadata.trace_id !== null && (
              <Link to="/traces/$id" params={{ id: line.metadata.trace_id }} className="shrink-0 text-accent">
                trace
              </Link>
            )}
          </li>
        );
      })}
      <li aria-hidden="true" style={{ height: restPx }} />
    </ol>
  );
}
