import type { CountedUse } from '../../contract/usage.ts';
import type { StatPart } from '../../events/stat-meter.ts';
import type { Transaction } from '../../db/database.ts';

/**
 * Adds what accounts used to their days, as addStats does, and in its transaction: what is stored
 * of one is stored of both.
 */
export async function addUsage(tx: Transaction, parts: readonly StatPart[]): Promise<void> {
  const ofAccounts = parts.filter(({ accountId, subjectId }) => accountId === subjectId);
  const used = (counter: CountedUse) => ofAccounts.map(({ use }) => use?.[counter] ?? 0);
  await tx`
    insert into usage_days as u (account_id, day, requests, runs, run_ms, cpu_ms, events, deliveries, attempts, bytes_in, bytes_out)
    select x.account_id, (to_timestamp(x.began_ms / 1000) at time zone 'utc')::date, sum(requests), sum(runs), sum(run_ms),
      sum(cpu_ms), sum(events), sum(deliveries), sum(attempts), sum(bytes_in), sum(bytes_out)
    from unnest(
      ${ofAccounts.map(({ accountId }) => accountId)}::text[], ${ofAccounts.map(({ beganMs }) => beganMs)}::int8[],
      ${used('requests')}::int8[], ${ofAccounts.map(({ counts }) => counts.runsOk + counts.runsFailed)}::int8[],
      ${used('runMs')}::float8[], ${used('cpuMs')}::float8[], ${ofAccounts.map(({ counts }) => counts.emitted)}::int8[],
      ${ofAccounts.map(({ counts }) => counts.delivered)}::int8[], ${used('attempts')}::int8[],
      ${used('bytesIn')}::int8[], ${used('bytesOut')}::int8[]
    ) as x(account_id, began_ms, requests, runs, run_ms, cpu_ms, events, deliveries, attempts, bytes_in, bytes_out)
      join accounts a on a.id = x.account_id
    group by 1, 2 order by 1, 2
    on conflict (account_id, day) do update set
      requests = u.requests + excluded.requests, runs = u.runs + excluded.runs, run_ms = u.run_ms + excluded.run_ms,
      cpu_ms = u.cpu_ms + excluded.cpu_ms, events = u.events + excluded.events,
      deliveries = u.deliveries + excluded.deliveries, attempts = u.attempts + excluded.attempts,
      bytes_in = u.bytes_in + excluded.bytes_in, bytes_out = u.bytes_out + excluded.bytes_out`;
}
