import { type FieldError, HeadwaterError, newId } from '@headwater/shared';
import type { LimitsCache } from '../accounts/index.ts';
import {
  findTextFault,
  type Principal,
  throwFields,
  type WorkflowInput,
  type WorkflowSettings,
} from '../contract/index.ts';
import { findEmitters } from './read-workflows.sql.ts';
import { findStepProblems } from './check-namespaces.ts';
import { decideSettings } from './check-settings.ts';
import type { Deployment, Step } from './deployment.ts';
import { planSteps, type StepContext } from './plan-steps.ts';
import { type PlannedTrigger, planTriggers, switchAnswersOn, type TriggerPlan } from './plan-triggers.ts';

export interface PlanContext extends StepContext {
  limits: Pick<LimitsCache, 'get'>;
}

/** A version that lacks only the sources that it deploys. */
export interface PlannedVersion {
  id: string;
  triggers: PlannedTrigger[];
  steps: Step[];
  settings: WorkflowSettings;
}

/**
 * Plans a new version: the given parts replace those of the previous one. Throws INVALID_REQUEST
 * with all faults of its form, then the errors of `planSteps`.
 */
export async function planVersion(
  context: PlanContext,
  who: Principal,
  input: WorkflowInput,
  before: Pick<Deployment, 'triggers' | 'steps' | 'settings'> | undefined,
): Promise<PlannedVersion> {
  const { db, limits } = context;
  const { triggers, errors: triggerErrors }: TriggerPlan =
    input.triggers === undefined
      ? { triggers: before?.triggers ?? [], errors: [] }
      : planTriggers(input.triggers, before?.triggers ?? []);
  const stepsBefore = before?.steps ?? [];
  const { settings, errors } = decideSettings(input.settings ?? {}, before?.settings, await limits.get(who.accountId));
  throwFields([...triggerErrors, ...findStepProblems(input.steps ?? [], stepsBefore), ...errors]);
  if (input.triggers !== undefined) await requireSources(db.sql, who, triggers);
  const steps = input.steps === undefined ? stepsBefore : await planSteps(context, who, input.steps, stepsBefore);
  const version = { id: newId('deployment'), steps, settings };
  // Other settings are no reason to answer clients in another way.
  if ((input.triggers ?? input.steps) === undefined) return { ...version, triggers };
  return { ...version, triggers: await switchAnswersOn(db.sql, who.accountId, triggers, steps) };
}

export function checkName(name: string | undefined): void {
  const fault = name === '' ? { message: 'must not be empty' } : findTextFault(name, 'maxNameChars');
  throwFields(fault === undefined ? [] : [{ path: 'name', ...fault }]);
}

/** Sources and workflows that triggers name must belong to the account. */
async function requireSources(
  sql: Parameters<typeof findEmitters>[0],
  { accountId }: Principal,
  triggers: readonly PlannedTrigger[],
): Promise<void> {
  const named = triggers.map((one) => (one.type === 'source' ? one.sourceId : undefined));
  const storable = named.filter((id) => id !== undefined && !id.includes('\0')) as string[];
  const there = storable.length === 0 ? new Set<string>() : await findEmitters(sql, accountId, storable);
  const errors: FieldError[] = named.flatMap((id, i) =>
    id === undefined || there.has(id)
      ? []
      : [{ path: `triggers.${i}.source_id`, message: `No source or workflow ${id} in this account` }],
  );
  const [first] = errors;
  if (first !== undefined) throw new HeadwaterError('NOT_FOUND', `${first.path}: ${first.message}`, { fields: errors });
}
