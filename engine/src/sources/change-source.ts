import { notFound, type PropDefinition } from '@headwater/shared';
import type { Principal, SourceUpdate } from '../contract.ts';
import { putSourceChange, type SourceChange } from '../store/change-source.ts';
import { deleteSource as deleteSourceRows } from '../store/delete-source.ts';
import { readSource, type SourceRow } from '../store/read-sources.ts';
import { readTakenSlugs } from '../store/read-taken-slugs.ts';
import { httpPropsOf, interfacesOf } from './interfaces.ts';
import {
  beginChange,
  chooseComponent,
  endChange,
  hookFailed,
  type LifecycleContext,
  namesComponent,
  readRuntime,
  runHook,
} from './lifecycle.ts';
import { freeSlug, slugOf } from './name-slug.ts';
import { mergeProps } from './seal-props.ts';

/** Deployed → deployed, same id: see lifecycle.ts for the hooks and for what a failing one means. */
export async function changeSource(
  context: LifecycleContext,
  who: Principal,
  id: string,
  input: SourceUpdate,
): Promise<void> {
  await beginChange(context, who, id);
  const row = await readSource(context.db.sql, who.accountId, id);
  if (row === undefined) throw notFound('source', id);
  try {
    const change = await planChange(context, who, row, input);
    await applyChange(context, who, row, change);
    await endChange(context, who, id, interfacesOf(change.definitions, change.after.configuredProps));
  } catch (error) {
    await endChange(context, who, id, interfacesOf(row.configurable_props, row.configured_props));
    throw error;
  }
}

/** Deployed → deleted. */
export async function deleteSource(context: LifecycleContext, who: Principal, id: string): Promise<void> {
  await beginChange(context, who, id);
  const runtime = await readRuntime(context, id);
  if (runtime.active) await deactivate(context, id);
  await deleteSourceRows(context.db.sql, who.accountId, id);
  context.forget(id);
}

interface PlannedChange {
  after: SourceChange;
  definitions: readonly PropDefinition[];
  /** Code or props change, not only the name or whether it is active. */
  isRedeploy: boolean;
}

async function planChange(
  context: LifecycleContext,
  who: Principal,
  row: SourceRow,
  input: SourceUpdate,
): Promise<PlannedChange> {
  const component = namesComponent(input) ? await chooseComponent(context, who, input) : undefined;
  const definitions = component?.configurableProps ?? row.configurable_props;
  const isRedeploy = component !== undefined || input.configuredProps !== undefined;
  const configuredProps = isRedeploy
    ? mergeProps(context.sealer, who.accountId, definitions, row.configured_props, input.configuredProps ?? {})
    : row.configured_props;
  const after: SourceChange = {
    componentId: component?.id ?? row.component_id,
    configuredProps,
    name: input.name ?? row.name,
    nameSlug: await slugFor(context, who, row, input.name),
    active: input.active ?? row.active,
    httpProps: httpPropsOf(definitions),
  };
  return { after, definitions, isRedeploy };
}

async function slugFor(
  { db }: LifecycleContext,
  who: Principal,
  row: SourceRow,
  name: string | undefined,
): Promise<string> {
  if (name === undefined || name === row.name) return row.name_slug;
  return freeSlug(slugOf(name), await readTakenSlugs(db.sql, who.accountId, slugOf(name), row.id));
}

async function applyChange(
  context: LifecycleContext,
  who: Principal,
  row: SourceRow,
  { after, isRedeploy }: PlannedChange,
): Promise<void> {
  const before = beforeOf(row);
  if (row.active && (isRedeploy || !after.active)) await deactivate(context, row.id);
  // Endpoints of both: a change that is taken back must not have cost the source its URLs.
  await put(context, who, row.id, { ...after, httpProps: [...before.httpProps, ...after.httpProps] });
  if (!after.active || !(isRedeploy || !row.active)) return;
  const activated = await runHook(context, row.id, 'activate');
  if (activated.ok) return;
  await put(context, who, row.id, before);
  if (row.active) await runHook(context, row.id, 'activate');
  throw hookFailed('activate', activated);
}

async function deactivate(context: LifecycleContext, id: string): Promise<void> {
  const result = await runHook(context, id, 'deactivate');
  // Passed over: the run's record tells the owner.
  if (!result.ok) context.log.info({ source: id, code: result.code }, 'a deactivate hook failed');
}

async function put(context: LifecycleContext, who: Principal, id: string, change: SourceChange): Promise<void> {
  await putSourceChange(context.db.sql, who.accountId, id, change);
  context.forget(id);
}

function beforeOf(row: SourceRow): SourceChange {
  return {
    componentId: row.component_id,
    configuredProps: row.configured_props,
    name: row.name,
    nameSlug: row.name_slug,
    active: row.active,
    httpProps: httpPropsOf(row.configurable_props),
  };
}
