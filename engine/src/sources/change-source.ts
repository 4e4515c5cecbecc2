import { isDeepStrictEqual } from 'node:util';
import { notFound, type PropDefinition } from '@headwater/shared';
import { checkRevision, type ExpectedRevisions, type Principal, type SourceUpdate } from '../contract/index.ts';
import { chooseComponent, namesComponent } from '../components/index.ts';
import { type ChangeLease, leaseLost } from '../db/index.ts';
import { type Growth, putSourceChange, type SourceChange } from './change-source.sql.ts';
import { leaveToRecovery } from './claim-abandoned-source.sql.ts';
import {
  type DecidedProps,
  decideProps,
  type HttpProp,
  httpPropsOf,
  interfacesOf,
  openStoredProps,
  type PropsOwner,
} from '../props/index.ts';
import { deleteSourceRows, deleteStoredValues, deleteWaitingInvocations } from './delete-source.sql.ts';
import { readSource, type SourceRow } from './read-sources.sql.ts';
import { checkConfigurationRoom, jsonBytes } from '../accounts/index.ts';
import {
  beginChange,
  deactivate,
  endChange,
  isLeftToRecovery,
  hookFailed,
  inAccountTurn,
  type LifecycleContext,
  readRuntime,
  runHook,
  whileHeld,
} from './lifecycle.ts';
import { nameSlugOf } from './name-slug.ts';

/**
 * Changes a deployed source, which keeps its id. See lifecycle.ts for the hooks and the effect of a
 * failing one.
 */
export async function changeSource(
  context: LifecycleContext,
  who: Principal,
  id: string,
  input: SourceUpdate,
  expected?: ExpectedRevisions,
): Promise<void> {
  const lease = await beginChange(context, who, id);
  await whileHeld(context, lease, () => changeHeld(context, who, lease, input, expected));
}

async function changeHeld(
  context: LifecycleContext,
  who: Principal,
  lease: ChangeLease,
  input: SourceUpdate,
  expected: ExpectedRevisions,
): Promise<void> {
  const { accountId, sourceId } = lease;
  const row = await inAccountTurn(context, accountId, () => readSource(context.db.sql, accountId, sourceId));
  if (row === undefined) throw notFound('source', sourceId);
  try {
    // The lease keeps other changes away until this one ends.
    checkRevision(`source ${sourceId}`, row.revision, expected);
    const change = await planChange(context, who, row, input);
    if (input.ifChanged === true && isAsBefore(context, row, change.after)) {
      await endChange(context, lease, interfacesOf(row.configurable_props, row.configured_props));
      return;
    }
    await applyChange(context, lease, row, change);
    await endChange(context, lease, interfacesOf(change.definitions, change.after.configuredProps));
  } catch (error) {
    if (await isLeftToRecovery(context, lease, error)) throw error;
    await endChange(context, lease, interfacesOf(row.configurable_props, row.configured_props));
    throw error;
  }
}

/** Deployed → deleted. */
export async function deleteSource(
  context: LifecycleContext,
  who: Principal,
  id: string,
  expected?: ExpectedRevisions,
): Promise<void> {
  const lease = await beginChange(context, who, id);
  if (expected !== undefined) await whileHeld(context, lease, () => checkHeld(context, lease, expected));
  await whileHeld(context, lease, () => deleteHeld(context, lease));
  context.forget(id);
  await deleteStored(context, lease);
}

/**
 * Checks before a deletion, because its effects are final. If it is refused, the source continues
 * as before.
 */
async function checkHeld(context: LifecycleContext, lease: ChangeLease, expected: ExpectedRevisions): Promise<void> {
  const { accountId, sourceId } = lease;
  const row = await inAccountTurn(context, accountId, () => readSource(context.db.sql, accountId, sourceId));
  if (row === undefined) throw notFound('source', sourceId);
  try {
    checkRevision(`source ${sourceId}`, row.revision, expected);
  } catch (error) {
    await endChange(context, lease, interfacesOf(row.configurable_props, row.configured_props));
    throw error;
  }
}

/** A failure does not matter: the source is deleted already. */
async function deleteStored(context: LifecycleContext, { accountId, sourceId }: ChangeLease): Promise<void> {
  try {
    await deleteStoredValues(context.db.sql, accountId, sourceId, (work) => inAccountTurn(context, accountId, work));
  } catch (err) {
    context.log.warn({ source: sourceId, err }, 'the stored values of a deleted source are left to retention');
  }
}

async function deleteHeld(context: LifecycleContext, lease: ChangeLease): Promise<void> {
  try {
    const runtime = await readRuntime(context, lease);
    if (runtime.active) await deactivate(context, lease);
    const inTurn = <T>(work: () => Promise<T>) => inAccountTurn(context, lease.accountId, work);
    // Piece by piece: all of it takes as long as there is much, and the account's other changes
    // need not wait for that.
    await deleteWaitingInvocations(context.db.sql, lease, inTurn);
    const isGone = await inTurn(() => deleteSourceRows(context.db.sql, lease));
    if (!isGone) throw leaseLost(lease.sourceId);
  } catch (error) {
    // The source still exists, and recovery restores it.
    await leaveToRecovery(context.db.sql, lease, 0);
    throw error;
  }
}

interface PlannedChange {
  after: SourceChange;
  definitions: readonly PropDefinition[];
  /** Code or props change, not only the name or whether it is active. */
  isRedeploy: boolean;
  /** Absent where its props take no more room than before. */
  growth?: Growth;
}

async function planChange(
  context: LifecycleContext,
  who: Principal,
  row: SourceRow,
  input: SourceUpdate,
): Promise<PlannedChange> {
  const use = { of: 'source', before: row.component_id } as const;
  const component = namesComponent(input) ? await chooseComponent(context.components, who, input, use) : undefined;
  const isRedeploy = component !== undefined || (input.configuredProps ?? input.dynamicPropsId) !== undefined;
  const { definitions, dynamicProps, configuredProps } = isRedeploy
    ? await decideProps(context, who, component ?? ownerOf(row), input, row)
    : propsOf(row);
  const growth = isRedeploy ? await checkGrowth(context, row, { configuredProps, dynamicProps }) : undefined;
  const after: SourceChange = {
    componentId: component?.id ?? row.component_id,
    configuredProps,
    dynamicProps,
    name: input.name ?? row.name,
    nameSlug: input.name === undefined || input.name === row.name ? row.name_slug : nameSlugOf(input.name),
    active: input.active ?? row.active,
    preflight: input.preflight ?? row.preflight,
    durability: input.durability ?? row.durability,
    httpProps: httpPropsOf(definitions),
  };
  return { after, definitions, isRedeploy, ...(growth === undefined ? {} : { growth }) };
}

/** Sealed values are opened first: the same secret is sealed into another text each time. */
function isAsBefore({ sealer }: LifecycleContext, row: SourceRow, after: SourceChange): boolean {
  const compared = ({
    configuredProps,
    dynamicProps,
    componentId,
    name,
    active,
    preflight,
    durability,
  }: SourceChange) => ({
    componentId,
    name,
    active,
    preflight,
    durability,
    // As jsonb gives it back, which has no undefined values.
    configuredProps: asJson(openStoredProps(sealer, row.account_id, configuredProps)),
    dynamicProps: asJson(dynamicProps),
  });
  return isDeepStrictEqual(compared(after), compared(beforeOf(row)));
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/**
 * Before a hook runs; by the time that it has there may be less room, and it is counted again.
 * Props that grow no further are never refused.
 */
async function checkGrowth(
  { db, room }: LifecycleContext,
  { account_id: accountId, configured_props: configured, dynamic_props: dynamic }: SourceRow,
  after: Pick<SourceChange, 'configuredProps' | 'dynamicProps'>,
): Promise<Growth | undefined> {
  const bytes = jsonBytes(after.configuredProps, after.dynamicProps) - jsonBytes(configured, dynamic);
  if (bytes <= 0) return undefined;
  const limits = await room.limits(accountId);
  await checkConfigurationRoom(db.sql, accountId, limits, bytes);
  return { bytes, limits };
}

function ownerOf(row: SourceRow): PropsOwner {
  const { component_id: id, code_hash: codeHash, own_props: configurableProps } = row;
  return { id, codeHash, configurableProps, hasAdditionalProps: row.has_additional_props };
}

function propsOf(row: SourceRow): DecidedProps {
  const { configurable_props: definitions, dynamic_props: dynamicProps, configured_props: configuredProps } = row;
  return { definitions, dynamicProps, configuredProps };
}

async function applyChange(
  context: LifecycleContext,
  lease: ChangeLease,
  row: SourceRow,
  { after, isRedeploy, growth }: PlannedChange,
): Promise<void> {
  const before = beforeOf(row);
  if (row.active && (isRedeploy || !after.active)) await deactivate(context, lease);
  await put(context, lease, { ...after, httpProps: httpPropsDuring(before.httpProps, after.httpProps) }, growth);
  if (!after.active || !(isRedeploy || !row.active)) return;
  const activated = await runHook(context, lease, 'activate');
  if (activated.ok) return;
  throw hookFailed('activate', activated, await takeBack(context, lease, before));
}

/**
 * Endpoints of both: a change that is taken back must not have cost the source its URLs. One that
 * is renamed keeps its URL both ways.
 */
function httpPropsDuring(before: readonly HttpProp[], after: readonly HttpProp[]): HttpProp[] {
  const namesOf = (props: readonly HttpProp[]) => new Set(props.map(({ name }) => name));
  const [namesBefore, namesAfter] = [namesOf(before), namesOf(after)];
  const gone = before.filter(({ name }) => !namesAfter.has(name));
  const fresh = after.filter(({ name }) => !namesBefore.has(name));
  const isRename = gone.length === 1 && fresh.length === 1;
  return isRename ? [...after] : [...gone, ...after];
}

/**
 * Puts the old code, props and state back, as a source that either is registered where its hooks
 * register it, or stopped.
 */
async function takeBack(context: LifecycleContext, lease: ChangeLease, before: SourceChange) {
  const undone = { hook: 'deactivate', result: await deactivate(context, lease) } as const;
  await put(context, lease, before);
  if (!before.active) return [undone];
  const again = await runHook(context, lease, 'activate');
  if (again.ok) return [undone];
  const stopped = { hook: 'deactivate', result: await deactivate(context, lease) } as const;
  await put(context, lease, { ...before, active: false });
  const message = `${again.message}; the source is stopped`;
  return [undone, { hook: 'activate', result: { ...again, message } } as const, stopped];
}

async function put(
  context: LifecycleContext,
  lease: ChangeLease,
  change: SourceChange,
  growth?: Growth,
): Promise<void> {
  await inAccountTurn(context, lease.accountId, () => putSourceChange(context.db.sql, lease, change, growth));
  context.forget(lease.sourceId);
}

function beforeOf(row: SourceRow): SourceChange {
  return {
    componentId: row.component_id,
    configuredProps: row.configured_props,
    dynamicProps: row.dynamic_props,
    name: row.name,
    nameSlug: row.name_slug,
    active: row.active,
    preflight: row.preflight,
    durability: row.durability,
    httpProps: httpPropsOf(row.configurable_props),
  };
}
