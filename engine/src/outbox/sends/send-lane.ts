import { type JobSpec, TASKS } from '../../db/index.ts';

/** The lane job that claims an account's due sends without a lease. `runAtMs` default: now. */
export function sendLane(accountId: string, runAtMs?: number): JobSpec {
  const spec = { task: TASKS.send, payload: { accountId }, key: `send:${accountId}:now` };
  return runAtMs === undefined ? spec : { ...spec, runAtMs };
}

/** For sends due later: one job per account and second, as for retries of deliveries. */
export function laterSendLane(accountId: string, atMs: number): JobSpec {
  const second = Math.ceil(atMs / 1_000);
  return {
    task: TASKS.send,
    payload: { accountId },
    key: `send:${accountId}:${second}`,
    runAtMs: second * 1_000,
  };
}
