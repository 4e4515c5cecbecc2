import type { StreamMessage } from '@headwater/client';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { useEventStream } from '../../api/event-stream.ts';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Empty } from '../../ui/empty.tsx';
import { FILTER_CLASS } from '../../ui/field.tsx';
import { LiveBadge } from '../../ui/live-badge.tsx';
import { useLongList } from '../../ui/long-list.ts';
import { Panel } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { FirstRunOfSource } from './first-run-of-source.tsx';
import type { Source } from './source-queries.ts';

interface LogLine {
  id: string;
  indexed_at_ms: number;
  event: { level?: string; message?: string; run?: string };
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
  const { level = '', run } = useSearch({ from: '/shell/sources/$id' });
  const navigate = useNavigate({ from: '/sources/$id' });
  const narrow = (change: { level?: string | undefined; run?: string | undefined }) =>
    void navigate({ search: (old) => ({ ...old, ...change }), replace: true });
  const shown = lines.filter(
    ({ event }) => (level === '' || rankOf(event.level) >= rankOf(level)) && (run === undefined || event.run === run),
  );
  const state = useEventStream({ path: `/v1/sources/${source.id}/logs`, onMessages });
  return (
    <Panel
      title="Logs"
      aside={<LiveBadge state={state} />}
      actions={
        <>
          {run !== undefined && (
            <Button size="small" onClick={() => narrow({ run: undefined })}>
              Show every run
            </Button>
          )}
          <select
            aria-label="Level"
            className={FILTER_CLASS}
            value={level}
            onChange={({ target }) => narrow({ level: target.value || undefined })}
          >
            <option value="">All levels</option>
            {RANKS.slice(1).map((name) => (
              <option key={name} value={name}>
                {name} and worse
              </option>
            ))}
          </select>
        </>
      }
    >
      {lines.length > 0 && shown.length === 0 && (
        <p className="flex flex-wrap items-center gap-2 p-4 text-sm text-ink-soft">
          None of the {lines.length} newest lines is of that level and run.
          <Button size="small" onClick={() => narrow({ level: undefined, run: undefined })}>
            Show all lines
          </Button>
        </p>
      )}
      {lines.length === 0 ? (
        <Empty
          icon="trace"
          title="No log lines"
          command={`hw logs ${source.name_slug} -f`}
          action={<FirstRunOfSource source={source} />}
        >
          What the component writes with console.log, and the errors of its runs, appear here.
        </Empty>
      ) : (
        <LogLines lines={shown} onRun={run === undefined ? (id) => narrow({ run: id }) : undefined} />
      )}
    </Panel>
  );
}

interface LogLinesProps {
  lines: readonly LogLine[];
  /** Shows the lines of one run; absent where they are. */
  onRun: ((runId: string) => void) | undefined;
}

function LogLines({ lines, onRun }: LogLinesProps) {
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
            className="flex gap-3 px-4 py-0.5 hover:bg-sunken max-sm:flex-wrap max-sm:gap-y-0 max-sm:py-1.5"
          >
            <span className="shrink-0 text-ink-faint">
              <Time atMs={line.indexed_at_ms} form="clock" />
            </span>
            <span className={classNames('w-10 shrink-0', LEVELS[line.event.level ?? ''])}>{line.event.level}</span>
            <span className="min-w-0 flex-1 break-words whitespace-pre-wrap max-sm:order-last max-sm:basis-full">
              {line.event.message}
            </span>
            <RunLinks run={line.event.run} onRun={onRun} />
          </li>
        );
      })}
      <li aria-hidden="true" style={{ height: restPx }} />
    </ol>
  );
}

/** From a line to the others of its run, and to what the run led to. */
function RunLinks({ run, onRun }: { run: string | undefined; onRun: LogLinesProps['onRun'] }) {
  if (run === undefined) return null;
  return (
    <span className="ml-auto flex shrink-0 gap-2 text-accent">
      {onRun !== undefined && (
        <button type="button" aria-label={`Only lines of run ${run}`} onClick={() => onRun(run)}>
          run
        </button>
      )}
      <Link to="/traces/$id" params={{ id: run }} aria-label={`Trace of run ${run}`}>
        trace
      </Link>
    </span>
  );
}
