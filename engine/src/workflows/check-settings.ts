import {
  type AccountLimits,
  type Fault,
  type FieldError,
  LIMITS,
  platformLimit,
  type PlatformLimitName,
} from '@headwater/shared';
import { findCountFault, type GivenCount, type SettingsInput, type WorkflowSettings } from '../contract/index.ts';

const MIN_MEMORY_MB = 32;

type SettingsBounds = Pick<AccountLimits, 'memoryMb' | 'executionWallMs'>;

export type SettingsOutcome = { settings: WorkflowSettings; errors: FieldError[] };

/**
 * The new settings: given ones override the earlier ones, and null removes one. With all faults of
 * the given ones.
 */
export function decideSettings(
  given: SettingsInput,
  before: WorkflowSettings | undefined,
  account: SettingsBounds,
): SettingsOutcome {
  const pick = <K extends keyof WorkflowSettings>(name: K) =>
    given[name] === null ? undefined : (given[name] ?? before?.[name]);
  const [concurrency, throttle, queueLimit] = [pick('concurrency'), pick('throttle'), pick('queueLimit')];
  const [timeoutSeconds, preflight] = [pick('timeoutSeconds'), pick('preflight')];
  const settings: WorkflowSettings = {
    memoryMb: pick('memoryMb') ?? account.memoryMb,
    retries: pick('retries') ?? 0,
    autoDeploy: pick('autoDeploy') ?? true,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(throttle === undefined ? {} : { throttle }),
    ...(queueLimit === undefined ? {} : { queueLimit }),
    ...(preflight === undefined ? {} : { preflight }),
  };
  return { settings, errors: findSettingProblems(given, account) };
}

/**
 * Checks only the given settings: earlier ones, set under other bounds, must not block another
 * change.
 */
function findSettingProblems(given: SettingsInput, account: SettingsBounds): FieldError[] {
  const errors: FieldError[] = [];
  const add = (path: string, fault: Fault | undefined) => {
    if (fault !== undefined) errors.push({ path: `settings.${path}`, ...fault });
  };
  const check = (path: string, value: GivenCount, min: number, name: PlatformLimitName) =>
    add(path, findCountFault(value, min, platformLimit(name, value ?? 0)));
  const { memoryMb, throttle } = given;
  add('timeout_seconds', findTimeoutFault(given.timeoutSeconds, account.executionWallMs));
  const memory = { name: 'memoryMb', value: account.memoryMb, used: memoryMb ?? 0 } as const;
  add('memory_mb', findCountFault(memoryMb, MIN_MEMORY_MB, memory));
  check('concurrency', given.concurrency, 1, 'maxWorkflowConcurrency');
  check('throttle.limit', throttle?.limit, 0, 'maxThrottleLimit');
  check('throttle.interval_seconds', throttle?.intervalSeconds, 1, 'maxThrottleIntervalSeconds');
  check('queue_limit', given.queueLimit, 1, 'maxWorkflowQueueLimit');
  check('retries', given.retries, 0, 'maxStepRetries');
  return errors;
}

/**
 * Whichever of the two is less: what the account has for an execution, or what any workflow may
 * have.
 */
function findTimeoutFault(seconds: GivenCount, executionWallMs: number): Fault | undefined {
  const used = seconds ?? 0;
  const most = Math.floor(executionWallMs / 1_000);
  return most < LIMITS.maxWorkflowTimeoutSeconds
    ? findCountFault(seconds, 1, { name: 'executionWallMs', value: executionWallMs, used: used * 1_000 }, most)
    : findCountFault(seconds, 1, platformLimit('maxWorkflowTimeoutSeconds', used));
}

/** Whether executions are started by these settings, and not as soon as a node is free. */
export function startsInTurn({ concurrency, throttle, queueLimit }: WorkflowSettings): boolean {
  return (concurrency ?? throttle ?? queueLimit) !== undefined;
}
