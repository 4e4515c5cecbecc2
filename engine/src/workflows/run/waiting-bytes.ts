import { type ExceededLimit, LIMITS } from '@headwater/shared';
import type { AccountSums, ExecutionWait, StepRow } from '../../runs/index.ts';
import { bytesOfStep, type Execution } from './execution.ts';
import { bytesOfSends } from './run-steps.ts';

/**
 * Approximate size of one execution for maxWaitingBytes: characters of its event (twice, for two
 * rows), context, steps and next run's input. The row of its wait has the amount, with the resume
 * data. The same amount is subtracted when it goes on.
 */
export interface WaitingBytes {
  /** It has one more step. */
  add(row: StepRow): void;
  /** Bytes with which it would wait after this step. `given`: input of the next run. */
  with(last: StepRow, given: Pick<ExecutionWait, 'context' | 'callback'>): number;
  /** The limit that its account would be over. */
  exceededBy(bytes: number): ExceededLimit | undefined;
  /** Sets the bytes with which it waits now; 0: it no longer waits. */
  set(bytes: number): void;
}

export function createWaitingBytes(
  waiting: Pick<AccountSums, 'of' | 'add'>,
  { key, start, account, usedBytes: before, waitedBytes }: Execution,
): WaitingBytes {
  let usedBytes = before;
  let counted = waitedBytes;
  return {
    add(row) {
      usedBytes += bytesOfRow(row);
    },
    with: (last, { context = '', callback = '' }) =>
      LIMITS.waitingOverheadBytes +
      2 * start.event.length +
      start.context.length +
      usedBytes +
      bytesOfRow(last) +
      context.length +
      Buffer.byteLength(callback),
    exceededBy(bytes) {
      const { maxWaitingBytes: value } = account;
      const used = waiting.of(key.accountId) + bytes - counted;
      return used > value ? { name: 'maxWaitingBytes', value, used } : undefined;
    },
    set(bytes) {
      waiting.add(key.accountId, bytes - counted);
      counted = bytes;
    },
  };
}

function bytesOfRow(row: StepRow): number {
  return bytesOfStep(row) + bytesOfSends(row.sends) + (row.props?.json.length ?? 0);
}
