import { LIMITS } from '@headwater/shared';
import type { CommitPlan } from './commit-plan.ts';
import type { EventRow, FanOut } from './event-rows.ts';
import type { ExecutionCommit } from './execution-rows.ts';
import { type HistoryCount, historyRowBytes, textBytes } from '../../accounts/index.ts';
import { recordsOf } from './insert-run-records.sql.ts';

/**
 * Adds the commit's bytes to the history of each account. Invocations do not count, because they
 * end with their runs.
 */
export function countCommit(plan: CommitPlan, history: HistoryCount): void {
  const sums = new Map<string, number>();
  const add = (accountId: string, bytes: number) => sums.set(accountId, (sums.get(accountId) ?? 0) + bytes);
  for (const event of plan.events) add(event.accountId, eventBytes(event));
  for (const { event } of plan.deliveries) add(event.accountId, LIMITS.historyRowBytes);
  for (const fanOut of plan.fanOuts) add(ownerOf(fanOut), deliveriesOf(fanOut) * LIMITS.historyRowBytes);
  for (const missed of plan.missed) add(missed.accountId, historyRowBytes(missed.channel, ...missed.emitIds));
  for (const { run, record } of recordsOf(plan)) {
    const { logs, errorMessage, errorStack } = record;
    add(run.accountId, historyRowBytes(logs, errorMessage, errorStack));
  }
  for (const { accountId, execution, sends = [] } of plan.runs.keys()) {
    if (execution !== undefined) add(accountId, executionBytes(execution));
    for (const { payload, sealed } of sends) add(accountId, historyRowBytes(payload, sealed));
  }
  for (const [accountId, bytes] of sums) history.add(accountId, bytes);
}

/**
 * Bytes of the steps, of the input for the next run, and of the execution's row when it is first
 * written. A step that runs again counts again, with its input.
 */
export function executionBytes({ steps, start, end, wait }: ExecutionCommit): number {
  let bytes = 0;
  for (const { value, exports, logs, error, sends, props } of steps) {
    bytes += historyRowBytes(value, exports, logs, error, props?.json);
    for (const { payload, sealed } of sends) bytes += textBytes(payload, sealed);
  }
  const isFirst = start.isStored !== true && (end !== undefined || wait !== undefined);
  if (isFirst) bytes += historyRowBytes(start.event, start.context);
  return bytes + textBytes(end?.error, end?.reason, wait?.context);
}

function eventBytes({ data, channel, emitId, summary }: EventRow): number {
  return historyRowBytes(data, channel, emitId, summary);
}

const ownerOf = ({ events }: FanOut) => events[0]?.event.accountId ?? '';

function deliveriesOf({ events, webhookIds }: FanOut): number {
  return events.reduce((sum, { heardKey }) => sum + (webhookIds.get(heardKey)?.length ?? 0), 0);
}
