import { setTimeout as sleep } from 'node:timers/promises';
import type { PhaseResult } from './e2e-phase.ts';
import type { Receiver } from './receiver/receiver.ts';
import type { ApiClient } from './system/api-client.ts';

export interface Checks {
  sent: number;
  duplicates: number;
  verifiedSignatures: number;
  /** Deliveries that the database holds. */
  storedDeliveries: number;
  faults: string[];
}

export interface BenchWebhook {
  api: ApiClient;
  webhookId: string;
}

const QUIET_TIMEOUT_MS = 20_000;
const POLL_MS = 50;
const NEWEST_DELIVERIES = 100;
const BUSY_GAUGES = [
  'headwater_runs_waiting',
  'headwater_runs_in_flight',
  'headwater_deliveries_held',
  'headwater_deliveries_in_flight',
];

/**
 * Exactly once, signed, and the database says the same: looked at when the server has nothing left
 * to do.
 */
export async function checkOutcome(
  webhooks: readonly BenchWebhook[],
  receiver: Receiver,
  phases: readonly PhaseResult[],
): Promise<Checks> {
  const faults = phases.flatMap((phase) => phase.faults);
  if (!(await becomesQuiet(webhooks))) faults.push('the server still has work after everything arrived');
  const sent = phases.reduce((sum, phase) => sum + phase.sent, 0);
  const totals = await collectAll(receiver, phases);
  if (totals.duplicates > 0) faults.push(`${totals.duplicates} events arrived more than once`);
  if (totals.strays > 0) faults.push(`${totals.strays} requests at the receiver were none of ours`);
  if (totals.badSignatures > 0) faults.push(`${totals.badSignatures} of ${totals.verified} signatures do not verify`);
  if (totals.verified === 0) faults.push('no signature was looked at');
  const counts = await Promise.all(webhooks.map(({ api, webhookId }) => api.countDeliveries(webhookId)));
  const storedDeliveries = counts.reduce((sum, count) => sum + count, 0);
  if (storedDeliveries !== sent) faults.push(`the database holds ${storedDeliveries} deliveries of ${sent} events`);
  const stored = await webhooks[0]?.api.metric('headwater_events_total', 'stage="stored"');
  if (stored !== undefined && stored !== sent) faults.push(`the engine stored ${stored} events of ${sent}`);
  return { sent, duplicates: totals.duplicates, verifiedSignatures: totals.verified, storedDeliveries, faults };
}

async function collectAll(receiver: Receiver, phases: readonly PhaseResult[]) {
  const sums = { duplicates: 0, strays: 0, verified: 0, badSignatures: 0 };
  for (const { plan } of phases) {
    const { duplicates, strays, verified, badSignatures } = await receiver.collect(plan.mark);
    sums.duplicates += duplicates;
    // Totals of the receiver, not of the phase.
    Object.assign(sums, { strays, verified, badSignatures });
  }
  return sums;
}

/** Nothing waits or is in flight any more, and the newest deliveries are recorded as delivered. */
async function becomesQuiet(webhooks: readonly BenchWebhook[]): Promise<boolean> {
  const deadlineMs = performance.now() + QUIET_TIMEOUT_MS;
  while (performance.now() < deadlineMs) {
    const busy = await Promise.all(BUSY_GAUGES.map(async (name) => webhooks[0]?.api.metric(name)));
    const newest = webhooks.map(({ api, webhookId }) => api.deliveryStatuses(webhookId, NEWEST_DELIVERIES));
    const statuses = (await Promise.all(newest)).flat();
    if (busy.every((value) => (value ?? 0) === 0) && statuses.every((status) => status === 'delivered')) return true;
    await sleep(POLL_MS);
  }
  return false;
}
