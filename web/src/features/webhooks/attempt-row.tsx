import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { ProblemNote } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { formatDuration, Time } from '../../ui/time.tsx';
import { type Attempt, attemptQuery } from './webhook-queries.ts';

interface Span {
  fromMs: number;
  lengthMs: number;
}

export function spanOf(attempts: readonly Attempt[]): Span {
  const starts = attempts.map(({ at }) => Date.parse(at));
  const ends = attempts.map(({ at, duration_ms: ms }) => Date.parse(at) + ms);
  const fromMs = Math.min(...starts);
  return { fromMs, lengthMs: Math.max(1, Math.max(...ends) - fromMs) };
}

/** Position of the attempt between the start of the first and the end of the last. */
function Bar({ attempt, span: { fromMs, lengthMs }, isGood }: { attempt: Attempt; span: Span; isGood: boolean }) {
  const left = ((Date.parse(attempt.at) - fromMs) / lengthMs) * 100;
  const width = (attempt.duration_ms / lengthMs) * 100;
  return (
    <div aria-hidden="true" className="relative mt-2 h-1.5 rounded-full bg-sunken">
      <div
        className={classNames('absolute h-full min-w-1 rounded-full', isGood ? 'bg-good' : 'bg-bad')}
        style={{ left: `${Math.min(left, 99)}%`, width: `${Math.min(width, 100 - Math.min(left, 99))}%` }}
      />
    </div>
  );
}

const TRIGGERS: Record<NonNullable<Attempt['trigger']>, string> = {
  first: 'first attempt',
  retry: 'retry',
  manual: 'by hand',
  replay: 'replay',
  test: 'test',
};

/** One attempt: its time, trigger, duration, request and answer. */
export function AttemptRow({ attempt, number, span }: { attempt: Attempt; number: number; span: Span }) {
  const { status_code: status, trigger } = attempt;
  const isGood = status !== null && status >= 200 && status < 300;
  return (
    <li className="rounded-md border border-line p-3 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 whitespace-nowrap">
        <span className="text-ink-faint">{number}</span>
        <Status of={isGood ? 'delivered' : 'failed'} label={status === null ? 'no answer' : `HTTP ${status}`} />
        <Time atMs={Date.parse(attempt.at)} />
        {trigger !== null && <span className="text-xs text-ink-faint">{TRIGGERS[trigger]}</span>}
        <span className="ml-auto text-ink-faint tabular-nums">{formatDuration(attempt.duration_ms)}</span>
      </div>
      <Bar attempt={attempt} span={span} isGood={isGood} />
      {attempt.error !== null && <p className="mt-2 text-bad">{attempt.error}</p>}
      {attempt.location !== null && (
        <p className="mt-2 break-all">
          It pointed to <span className="font-mono text-xs">{attempt.location}</span>, where nothing was sent.
        </p>
      )}
      <Took attempt={attempt} />
      <Headers title="Request headers" headers={attempt.request_headers} />
      <Headers title="Response headers" headers={attempt.response_headers} />
      <Answer attempt={attempt} />
    </li>
  );
}

function Took({ attempt: { phases, reused, remote_address: address } }: { attempt: Attempt }) {
  if (phases === null) return null;
  const took: [name: string, ms: number | null][] = [
    ['DNS', phases.dns_ms],
    ['connect', phases.connect_ms],
    ['TLS', phases.tls_ms],
    ['first byte', phases.first_byte_ms],
    ['rest', phases.end_ms],
  ];
  return (
    <p className="mt-2 flex flex-wrap gap-x-3 text-xs text-ink-soft tabular-nums">
      {address !== null && <span className="font-mono">{address}</span>}
      {reused && <span>connection reused</span>}
      {took.map(([name, ms]) => ms !== null && <span key={name}>{`${name} ${ms} ms`}</span>)}
    </p>
  );
}

function Headers({ title, headers }: { title: string; headers: Attempt['request_headers'] }) {
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  if (lines.length === 0) return null;
  return (
    <details className="mt-2">
      <summary className="cursor-pointer text-xs text-ink-soft">{title}</summary>
      <pre className="mt-1 overflow-auto rounded bg-sunken p-2 font-mono text-xs whitespace-pre-wrap break-all">
        {lines.join('\n')}
      </pre>
    </details>
  );
}

/** Its beginning; the rest is read when it is asked for. */
function Answer({ attempt: { id, response, response_bytes: bytes } }: { attempt: Attempt }) {
  const [isWhole, setWhole] = useState(false);
  const whole = useQuery({ ...attemptQuery(id), enabled: isWhole });
  const text = whole.data?.response ?? response;
  if (text === null || text === '') return null;
  return (
    <>
      <pre
        tabIndex={0}
        aria-label="What the receiver answered"
        className="mt-2 max-h-48 overflow-auto rounded bg-sunken p-2 font-mono text-xs whitespace-pre-wrap"
      >
        {text}
      </pre>
      {bytes !== null && whole.data === undefined && (
        <Button size="small" kind="quiet" busy={whole.isFetching} onClick={() => setWhole(true)}>
          Show all {bytes} bytes
        </Button>
      )}
      <ProblemNote error={whole.error} />
    </>
  );
}
