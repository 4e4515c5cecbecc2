import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { formatDuration, Time } from '../../ui/time.tsx';
import { webhookStatsQuery } from './webhook-queries.ts';

type WebhookStats = Schemas['WebhookStats'];

function successText({ success_share: share }: WebhookStats): string {
  return share === null ? '–' : `${(share * 100).toFixed(1)} %`;
}

/** The success as a number, in the colour of a failure where most attempts fail. */
export function Success({ stats }: { stats: WebhookStats }) {
  const isBad = stats.success_share !== null && stats.success_share < 0.5;
  return <span className={isBad ? 'font-medium text-bad' : undefined}>{successText(stats)}</span>;
}

export function p95Text({ latency_ms: { p95 } }: WebhookStats): string {
  return p95 === null ? '–' : formatDuration(p95);
}

/** The webhook's last day in one line. Its space is reserved until the data arrives. */
export function WebhookHealth({ id }: { id: string }) {
  const { data } = useQuery(webhookStatsQuery(id));
  const { latency_ms: latency, backlog, oldest_due_at: dueAt = null } = data ?? {};
  const rate = data?.current_rate_per_second ?? null;
  const p50 = latency?.p50 ?? null;
  const numbers: [name: string, value: string | number, status?: string][] = [
    ['Success', data === undefined ? '…' : successText(data), 'failed'],
    ['p50', p50 === null ? '–' : formatDuration(p50), 'delivered'],
    ['p95', data === undefined ? '…' : p95Text(data), 'delivered'],
    ...(rate === null ? [] : ([['Rate now', `${Number(rate.toFixed(1))} a second`]] as [string, string][])),
    ['Waiting', backlog ?? '…', 'pending,sending,held'],
  ];
  return (
    <dl aria-label="The last day" className="grid grid-cols-2 gap-x-6 gap-y-1 text-sm sm:flex sm:flex-wrap">
      {numbers.map(([name, value, status]) => (
        <div key={name} className="flex gap-1.5">
          <dt className="text-ink-soft">{name}</dt>
          <dd className="tabular-nums">
            {status === undefined ? (
              value
            ) : (
              <Link
                to="/webhooks/$id"
                params={{ id }}
                search={{ status }}
                aria-label={`${name}: ${value}. Show the deliveries`}
                className="underline decoration-line-strong hover:text-accent"
              >
                {value}
              </Link>
            )}
          </dd>
        </div>
      ))}
      <div className="flex gap-1.5">
        <dt className="text-ink-soft">Oldest due</dt>
        <dd>{dueAt === null ? 'none' : <Time atMs={dueAt * 1000} />}</dd>
      </div>
    </dl>
  );
}

const LIST_REFRESH_MS = 60_000;

/**
 * One number of the last day, in a list. The server looks at a thousand deliveries for each
 * webhook: only rows that are in view ask, and seldom.
 */
export function Health({ id, of }: { id: string; of: (stats: WebhookStats) => ReactNode }) {
  const place = useRef<HTMLSpanElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (place.current === null) return undefined;
    const observer = new IntersectionObserver((entries) => {
      setSeen(entries.some(({ isIntersecting }) => isIntersecting));
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  const { data } = useQuery({
    ...webhookStatsQuery(id),
    enabled: isSeen,
    staleTime: LIST_REFRESH_MS,
    refetchInterval: LIST_REFRESH_MS,
  });
  return <span ref={place}>{data === undefined ? '\u00a0' : of(data)}</span>;
}
