import type { Preflight } from '../contract/index.ts';
import { type AccountLimits, HeadwaterError, newId } from '@headwater/shared';
import type { Deployment, Step, Trigger } from './deployment.ts';
import { putEndpoints, putTimers } from '../sources/index.ts';
import { notifySourceChanged, type Sql, type Transaction } from '../db/index.ts';
import { lockEnvironmentVariables } from '../environment/index.ts';
import { addRunLanes } from '../runs/index.ts';
import { lockAccount, requireConfigurationRoom, requireRoom } from '../accounts/index.ts';

export type VersionLimits = Pick<AccountLimits, 'maxSubscriptions' | 'maxConfigurationBytes'>;

/**
 * Stores a version, which is not used until it is made current. Throws CONFLICT if the account has
 * no room for it. The caller has locked the account.
 */
export async function insertDeployment(
  tx: Transaction,
  userId: string,
  deployment: Deployment,
  limits: VersionLimits,
): Promise<void> {
  const { accountId, triggers, steps, settings } = deployment;
  // Once: each time holds the thread for as long as there are megabytes of it.
  const texts = {
    triggers: JSON.stringify(triggers),
    steps: JSON.stringify(steps),
    settings: JSON.stringify(settings),
  };
  const bytes = Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  await requireConfigurationRoom(tx, accountId, limits, bytes);
  await requireComponents(tx, accountId, steps);
  await tx`
    insert into deployments (id, account_id, workflow_id, user_id, version, triggers, steps, settings)
    values (${deployment.id}, ${deployment.accountId}, ${deployment.workflowId}, ${userId}, ${deployment.version},
      ${texts.triggers}::text::jsonb, ${texts.steps}::text::jsonb, ${texts.settings}::text::jsonb)`;
}

/**
 * Whether a version is stored, also after a lost connection. A transaction that stores one locks
 * the account first. So no such transaction is under way once this one has the lock.
 */
export async function isDeploymentStored(sql: Sql, accountId: string, id: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    const found = await tx`select from deployments where account_id = ${accountId} and id = ${id}`;
    return found.count > 0;
  });
}

export interface CurrentVersion {
  deployment: Pick<Deployment, 'id' | 'accountId' | 'workflowId' | 'triggers' | 'steps'>;
  /** Triggers of the version that was the current one. */
  triggersBefore: readonly Trigger[];
  active: boolean;
  inTurn: boolean;
  preflight: Preflight;
  limits: VersionLimits;
}

/**
 * Makes a version the current one, with its endpoints, timers and subscriptions. Runs in the
 * caller's transaction, which has locked the account and then the workflow's row. Throws CONFLICT
 * if a component or variable that it needs is gone, or the account has no room for its
 * subscriptions.
 */
export async function makeCurrent(
  tx: Transaction,
  { deployment, triggersBefore, active, inTurn, preflight, limits }: CurrentVersion,
): Promise<void> {
  const { id, accountId, workflowId, triggers, steps } = deployment;
  await requireComponents(tx, accountId, steps);
  await requireVariables(tx, accountId, steps);
  await tx`update deployments set unused_since = null where id = ${id} and unused_since is not null`;
  await tx`
    update emitters set deployment_id = ${id}, in_turn = ${inTurn}, preflight = ${preflight}
    where account_id = ${accountId} and id = ${workflowId}`;
  await putEndpoints(tx, accountId, workflowId, httpPropsOf(triggers));
  const made = await putSubscriptions(tx, accountId, workflowId, triggers, triggersBefore);
  // Counted when they are there: some of those that were wanted may have been there before.
  if (made > 0) await requireRoom(tx, accountId, limits, 'maxSubscriptions', 0);
  await putActivity(tx, { accountId, workflowId, triggers, active });
}

/** Timers run while the workflow is active, and what waited for it is run when it is again. */
export async function putActivity(
  tx: Transaction,
  {
    accountId,
    workflowId,
    triggers,
    active,
  }: Pick<Deployment, 'accountId' | 'workflowId' | 'triggers'> & { active: boolean },
): Promise<void> {
  const timers = triggers.flatMap((one) => (one.type === 'timer' ? [{ name: one.id, schedule: one.schedule }] : []));
  await putTimers(tx, accountId, workflowId, active ? timers : []);
  if (active) await addRunLanes(tx, [workflowId]);
  await notifySourceChanged(tx, workflowId);
}

function httpPropsOf(triggers: readonly Trigger[]) {
  return triggers.flatMap((one) => (one.type === 'http' ? [{ name: one.id, customResponse: one.customResponse }] : []));
}

/**
 * Changes only subscriptions of triggers; others stay. Skips deleted sources. Returns the number of
 * new ones.
 */
async function putSubscriptions(
  tx: Transaction,
  accountId: string,
  workflowId: string,
  triggers: readonly Trigger[],
  before: readonly Trigger[],
): Promise<number> {
  const wanted = sourcesOf(triggers);
  const isWanted = (one: { sourceId: string; eventName: string }) =>
    wanted.some(({ sourceId, eventName }) => sourceId === one.sourceId && eventName === one.eventName);
  const gone = sourcesOf(before).filter((one) => !isWanted(one));
  if (gone.length > 0)
    await tx`
      delete from subscriptions where account_id = ${accountId} and listener_id = ${workflowId}
        and (emitter_id, event_name) in (select * from ${pairs(tx, gone)})`;
  if (wanted.length === 0) return 0;
  // Held against deletion until the subscription is there.
  const there = await tx<{ id: string }[]>`
    select id from emitters where account_id = ${accountId} and id = any(${wanted.map((one) => one.sourceId)}::text[])
      and deleted_at is null and deployed_at is not null order by id for share`;
  const ids = new Set(there.map(({ id }) => id));
  const present = wanted.filter(({ sourceId }) => ids.has(sourceId));
  const made = await tx`
    insert into subscriptions (id, account_id, emitter_id, listener_id, event_name)
    select w.id, ${accountId}, w.emitter_id, ${workflowId}, w.event_name from unnest(
      ${present.map(() => newId('subscription'))}::text[], ${present.map((one) => one.sourceId)}::text[],
      ${present.map((one) => one.eventName)}::text[]
    ) as w(id, emitter_id, event_name)
    on conflict do nothing`;
  return made.count;
}

const sourcesOf = (triggers: readonly Trigger[]) => triggers.flatMap((one) => (one.type === 'source' ? [one] : []));

function pairs(tx: Transaction, list: readonly { sourceId: string; eventName: string }[]) {
  return tx`unnest(${list.map((one) => one.sourceId)}::text[], ${list.map((one) => one.eventName)}::text[])`;
}

/** Held against deletion until the version is there. */
async function requireComponents(tx: Transaction, accountId: string, steps: readonly Step[]): Promise<void> {
  const wanted = [...new Set(steps.map(({ componentId }) => componentId))];
  if (wanted.length === 0) return;
  const rows = await tx<{ id: string }[]>`
    select id from components where account_id = ${accountId} and id = any(${wanted}::text[]) and deleted_at is null
    order by id for key share`;
  const there = new Set(rows.map(({ id }) => id));
  const gone = steps.find(({ componentId }) => !there.has(componentId));
  if (gone === undefined) return;
  throw new HeadwaterError('CONFLICT', `The component ${gone.componentId} of the step ${gone.namespace} was deleted`);
}

async function requireVariables(tx: Transaction, accountId: string, steps: readonly Step[]): Promise<void> {
  const there = await lockEnvironmentVariables(tx, accountId, [...new Set(steps.flatMap(({ env }) => env))]);
  const step = steps.find(({ env }) => env.some((name) => !there.has(name)));
  if (step === undefined) return;
  const name = step.env.find((one) => !there.has(one));
  const message = `The environment variable ${name}, which the step ${step.namespace} names, was deleted`;
  throw new HeadwaterError('CONFLICT', message);
}
