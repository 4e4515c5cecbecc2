import { type AccountLimits, type FieldError, LIMITS } from '@headwater/shared';
import type { SettingsInput, WorkflowSettings } from '../contract-workflows.ts';

const MIN_MEMORY_MB = 32;

export type SettingsOutcome = { settings: WorkflowSettings; errors: FieldError[] };

/**
 * The settings that hold from now on: what is given over what was set before, and null for what is taken back. With everything
 * that is wrong with them.
 */
export function decideSettings(
  given: SettingsInput,
  before: WorkflowSettings | undefined,
  account: Pick<AccountLimits, 'memoryMb' | 'executionWallMs'>,
): SettingsOutcome {
  const pick = <K extends keyof WorkflowSettings>(name: K) =>
    given[name] === null ? undefined : (given[name] ?? before?.[name]);
  const [concurrency, throttle, queueLimit] = [pick('concurrency'), pick('throttle'), pick('queueLimit')];
  const timeoutSeconds = pick('timeoutSeconds');
  const most = { memoryMb: account.memoryMb, timeoutSeconds: Math.floor(account.executionWallMs / 1_000) };
  const settings: WorkflowSettings = {
    memoryMb: pick('memoryMb') ?? most.memoryMb,
    retries: pick('retries') ?? 0,
    autoDeploy: pick('autoDeploy') ?? true,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(throttle === undefined ? {} : { throttle }),
    ...(queueLimit === undefined ? {} : { queueLimit }),
  };
  return { settings, errors: findSettingProblems(given, most) };
}

/** Only of what is given: what was set before under other bounds is no reason to refuse another change. */
function findSettingProblems(given: SettingsInput, most: { memoryMb: number; timeoutSeconds: number }): FieldError[] {
  const errors: FieldError[] = [];
  const check = (path: string, value: number | null | undefined, min: number, max: number) => {
    if (value === undefined || value === null || (Number.isInteger(value) && value >= min && value <= max)) return;
    errors.push({ path: `settings.${path}`, message: `must be a whole number from ${min} to ${max}` });
  };
  check('timeout_seconds', given.timeoutSeconds, 1, Math.min(most.timeoutSeconds, LIMITS.maxWorkflowTimeoutSeconds));
  check('memory_mb', given.memoryMb, MIN_MEMORY_MB, most.memoryMb);
  check('concurrency', given.concurrency, 1, LIMITS.maxWorkflowConcurrency);
  check('throttle.limit', given.throttle?.limit, 0, LIMITS.maxThrottleLimit);
  check('throttle.interval_seconds', given.throttle?.intervalSeconds, 1, LIMITS.maxThrottleIntervalSeconds);
  check('queue_limit', given.queueLimit, 1, LIMITS.maxWorkflowQueueLimit);
  check('retries', given.retries, 0, LIMITS.maxStepRetries);
  return errors;
}

/** Whether executions are started by these settings, and not as soon as a node is free. */
export function startsInTurn({ concurrency, throttle, queueLimit }: WorkflowSettings): boolean {
  return (concurrency ?? throttle ?? queueLimit) !== undefined;
}
