import type { UsageCounts, UsageRecord } from '@headwater/engine';
import type { Shown, usageSchema } from '@headwater/shared/contract';

export function presentUsage(usage: UsageRecord): Shown<typeof usageSchema> {
  const { accountId, sinceMs, untilMs, totals, days } = usage;
  return {
    account_id: accountId,
    since: sinceMs,
    until: untilMs,
    totals: presentUse(totals),
    days: days.map(({ day, ...use }) => ({ day, ...presentUse(use) })),
  };
}

export function presentUse(use: UsageCounts & { storageBytes: number }) {
  const { requests, runs, runMs, cpuMs, events, deliveries, attempts, bytesIn, bytesOut, storageBytes } = use;
  return {
    requests,
    runs,
    run_ms: runMs,
    cpu_ms: cpuMs,
    events,
    deliveries,
    attempts,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    storage_bytes: storageBytes,
  };
}
