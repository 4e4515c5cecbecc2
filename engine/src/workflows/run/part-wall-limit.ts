import type { AccountLimits } from '@headwater/shared';
import type { InvocationKind } from '../../events/index.ts';
import { wallLimitOf } from '../../runs/index.ts';
import type { DeploymentRuntime } from './deployment-runtime.ts';

/** How long an execution, or its part after a wait, may take, and what bounds it. */
export interface PartWallLimit {
  ms: number;
  name: 'timeout_seconds' | 'executionWallMs' | 'httpRunWallMs' | 'timerRunWallMs';
}

/**
 * As its workflow says, or else as long as a run of a source that is started so; never longer than
 * its account may have.
 */
export function partWallLimit(
  { settings: { timeoutSeconds } }: Pick<DeploymentRuntime, 'settings'>,
  account: AccountLimits,
  startedBy: InvocationKind,
): PartWallLimit {
  const asStarted = wallLimitOf(startedBy);
  const own: PartWallLimit =
    timeoutSeconds === undefined
      ? { ms: account[asStarted], name: asStarted }
      : { ms: timeoutSeconds * 1_000, name: 'timeout_seconds' };
  return own.ms <= account.executionWallMs ? own : { ms: account.executionWallMs, name: 'executionWallMs' };
}
