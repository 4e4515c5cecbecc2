import { useQuery } from '@tanstack/react-query';
import { formatDuration, Time } from '../../ui/time.tsx';
import { webhookStatsQuery } from './webhook-queries.ts';

/** How the webhook did in the last day, in one line of numbers. */
export function WebhookHealth({ id }: { id: string }) {
  const { data } = useQuery(webhookStatsQuery(id));
  if (data === undefined) return null;
  const { success_share: share, latency_ms: latency, backlog, oldest_due_at: dueAt } = data;
  const numbers: [name: string, value: string][] = [
    ['Success', share === null ? '–' : `${(share * 100).toFixed(1)} %`],
    ['p50', latency.p50 === null ? '–' : formatDuration(latency.p50)],
    ['p95', latency.p95 === null ? '–' : formatDuration(latency.p95)],
    ['Waiting', String(backlog)],
  ];
  return (
    <dl aria-label="The last day" className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
      {numbers.map(([name, value]) => (
        <div key={name} className="flex gap-1.5">
          <dt className="text-ink-soft">{name}</dt>
          <dd className="tabular-nums">{value}</dd>
        </div>
      ))}
      {dueAt !== null && (
        <div className="flex gap-1.5">
          <dt className="text-ink-soft">Oldest due</dt>
          <dd>
            <Time atMs={dueAt * 1000} />
          </dd>
        </div>
      )}
    </dl>
  );
}
