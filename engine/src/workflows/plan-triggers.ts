import { type FieldError, newId } from '@headwater/shared';
import { findTextFault, type SourceCreate, type TriggerInput } from '../contract/index.ts';
import { timerCheck, timerOf } from '../schedule/index.ts';
import { callsRespond } from './read-workflows.sql.ts';
import type { Sql } from '../db/index.ts';
import type { Step, Trigger } from './deployment.ts';
import { requireAtMost } from './require-at-most.ts';

/** A source that is not deployed yet stands where its trigger will. */
export type PlannedTrigger = Trigger | { type: 'deploy'; source: SourceCreate; eventName: string; path: string };

export interface TriggerPlan {
  triggers: PlannedTrigger[];
  errors: FieldError[];
}

/**
 * The triggers of a new version. One that is there keeps its id, and with it its URL or the phase
 * of its timer: the one that is named by id; else a timer with the same schedule; else the first of
 * the same type. `before` is empty for a new workflow, and then ids say nothing.
 */
export function planTriggers(inputs: readonly TriggerInput[], before: readonly Trigger[]): TriggerPlan {
  const errors = findTriggerProblems(inputs, before);
  if (errors.length > 0) return { triggers: [], errors };
  const kept = keepIds(inputs, before);
  return {
    triggers: inputs.map((input, i) => planTrigger(input, kept.get(input), before, `triggers.${i}`)),
    errors: [],
  };
}

/**
 * Makes the workflow answer its clients if the code of a step calls `$.respond`. Leaves HTTP
 * triggers whose owner has chosen. A trigger that answers continues to, whatever the code is now.
 */
export async function switchAnswersOn(
  sql: Sql,
  accountId: string,
  triggers: PlannedTrigger[],
  steps: readonly Step[],
): Promise<PlannedTrigger[]> {
  const isOpen = (one: PlannedTrigger) => one.type === 'http' && !one.customResponse && one.given !== true;
  if (!triggers.some(isOpen)) return triggers;
  const componentIds = steps.map(({ componentId }) => componentId);
  if (!(await callsRespond(sql, accountId, componentIds))) return triggers;
  return triggers.map((one) => (one.type === 'http' && isOpen(one) ? { ...one, customResponse: true } : one));
}

function planTrigger(
  input: TriggerInput,
  keptId: string | undefined,
  before: readonly Trigger[],
  path: string,
): PlannedTrigger {
  switch (input.type) {
    case 'http': {
      const { customResponse } = input;
      const kept = before.find((one) => one.type === 'http' && one.id === keptId);
      if (customResponse === undefined && kept !== undefined) return kept;
      const answer =
        customResponse === undefined ? { customResponse: false } : { customResponse, given: true as const };
      return { id: keptId ?? newId('httpTrigger'), type: 'http', ...answer };
    }
    case 'timer':
      return { id: keptId ?? newId('timerTrigger'), type: 'timer', schedule: timerOf(input.schedule) };
    case 'source': {
      const { sourceId, eventName = '' } = input;
      const isOwn = before.some((one) => one.type === 'source' && one.sourceId === sourceId && one.deployed === true);
      return { id: sourceId, type: 'source', sourceId, eventName, ...(isOwn ? { deployed: true } : {}) };
    }
    case 'deploy': {
      const { type: _, eventName = '', ...source } = input;
      return { type: 'deploy', source, eventName, path };
    }
  }
}

/** Which trigger of before each input is, by its id. */
function keepIds(inputs: readonly TriggerInput[], before: readonly Trigger[]): Map<TriggerInput, string> {
  const kept = new Map<TriggerInput, string>();
  const free = new Map(before.map((trigger) => [trigger.id, trigger]));
  const keepWhere = (isSame: (input: TriggerInput, trigger: Trigger) => boolean) => {
    for (const input of inputs) {
      if (kept.has(input)) continue;
      const found = [...free.values()].find((trigger) => trigger.type === input.type && isSame(input, trigger));
      if (found === undefined) continue;
      kept.set(input, found.id);
      free.delete(found.id);
    }
  };
  keepWhere((input, trigger) => 'id' in input && input.id === trigger.id);
  keepWhere(
    (input, trigger) => !hasId(input) && scheduleOf(input) !== undefined && scheduleOf(input) === scheduleOf(trigger),
  );
  keepWhere((input) => !hasId(input) && input.type !== 'source');
  return kept;
}

const hasId = (input: TriggerInput): boolean => 'id' in input && input.id !== undefined;

function scheduleOf(trigger: TriggerInput | Trigger): string | undefined {
  if (trigger.type !== 'timer') return undefined;
  const { cron, timezone, intervalSeconds } = timerOf(trigger.schedule);
  return JSON.stringify([cron, timezone, intervalSeconds]);
}

function findTriggerProblems(inputs: readonly TriggerInput[], before: readonly Trigger[]): FieldError[] {
  requireAtMost('triggers', inputs.length);
  const seen = new Set<string>();
  const checkTimer = timerCheck();
  return inputs.flatMap((input, i) => {
    const path = `triggers.${i}`;
    const problem = findTriggerProblem(input, before, checkTimer);
    if (problem !== undefined) return [{ ...problem, path: `${path}.${problem.path}` }];
    const identity = identityOf(input);
    if (identity !== undefined && seen.has(identity)) return [{ path, message: 'is there twice' }];
    if (identity !== undefined) seen.add(identity);
    return [];
  });
}

/** Key of a trigger, which may exist only once. */
function identityOf(input: TriggerInput): string | undefined {
  if (input.type === 'source') return JSON.stringify([input.sourceId, input.eventName ?? '']);
  return 'id' in input ? input.id : undefined;
}

function findTriggerProblem(
  input: TriggerInput,
  before: readonly Trigger[],
  checkTimer: ReturnType<typeof timerCheck>,
): FieldError | undefined {
  switch (input.type) {
    case 'http':
    case 'timer': {
      const isUnknown =
        input.id !== undefined &&
        before.length > 0 &&
        !before.some(({ id, type }) => id === input.id && type === input.type);
      if (isUnknown)
        return { path: 'id', message: `The workflow has no trigger ${input.id} of the type ${input.type}` };
      const problem = input.type === 'timer' ? checkTimer(input.schedule) : undefined;
      if (problem === undefined || input.type !== 'timer') return undefined;
      const found = typeof problem === 'string' ? { message: problem } : problem;
      // Components write the name of the interval in another way than the API does.
      const message = found.message.replace('intervalSeconds', 'interval_seconds');
      return { ...found, path: input.schedule.cron === undefined ? 'interval_seconds' : 'cron', message };
    }
    case 'source':
    case 'deploy': {
      const fault = findTextFault(input.eventName, 'maxChannelChars');
      return fault === undefined ? undefined : { path: 'event_name', ...fault };
    }
  }
}
