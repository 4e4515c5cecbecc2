import type { RunLimits } from '@headwater/sandbox-runtime';
import { type HookName, HeadwaterError, LIMITS, notFound, type PropDefinition } from '@headwater/shared';
import type { ComponentRecord, Components, Principal, SourceCreate, SourceUpdate } from '../contract.ts';
import type { Log } from '../log.ts';
import type { RunResult, RunTask } from '../run/run-invocation.ts';
import { runtimeOf, type SourceRuntime } from '../run/source-runtime.ts';
import { createSource } from '../store/create-source.ts';
import { beginSourceChange, endSourceChange, putSourceChange, type SourceChange } from '../store/change-source.ts';
import { deleteSource, dropUndeployedSource } from '../store/delete-source.ts';
import type { Database } from '../store/database.ts';
import { readSource, type SourceRow } from '../store/read-sources.ts';
import { readSourceRuntime } from '../store/read-source-runtime.ts';
import { readTakenSlugs } from '../store/read-taken-slugs.ts';
import { freeSlug, slugOf } from './name-slug.ts';
import { httpPropsOf, type Interfaces, interfacesOf } from './interfaces.ts';
import { mergeProps, type PropSealer, sealSecrets } from './seal-props.ts';
import { validateProps } from './validate-props.ts';

/**
 * Deployed → changed → deleted, with the hooks of each move:
 *
 *   create                    deploy, activate         a failing hook: no source is left, HOOK_FAILED
 *   code or props change      deactivate (old),        a failing deactivate is recorded and passed over (broken code must
 *                             activate (new)           be replaceable); a failing activate: the old code, props and state
 *                                                      are put back and activated again, HOOK_FAILED
 *   active: true → false      deactivate               as above
 *   active: false → true      activate                 a failing hook: it stays inactive, HOOK_FAILED
 *   delete                    deactivate if active     passed over: a source can always be deleted
 *
 * A change of the name alone runs no hook, nor does a change of an inactive source. Changes of one source never overlap:
 * a second one answers CONFLICT.
 */
export interface Lifecycle {
  /** Answers the new source's id. */
  deploy(who: Principal, input: SourceCreate): Promise<string>;
  change(who: Principal, id: string, change: SourceUpdate): Promise<void>;
  delete(who: Principal, id: string): Promise<void>;
}

export interface LifecycleOptions {
  db: Database;
  components: Components;
  opener: PropSealer;
  runTask: (task: RunTask) => Promise<RunResult>;
  /** Drops what this node has cached of the source; other nodes hear of it from the database. */
  forget: (sourceId: string) => void;
  log: Log;
}

/** Longer than the hooks of one change can take together; the lease of a node that died ends by itself. */
const CHANGE_LEASE_SECONDS = (3 * LIMITS.hookWallMs) / 1000 + 30;
const MAX_SLUG_TRIES = 5;

interface InsertedSource {
  id: string;
  configuredProps: Record<string, unknown>;
}

const HOOK_LIMITS: RunLimits = {
  cpuMs: LIMITS.runCpuMs,
  wallMs: LIMITS.hookWallMs,
  memoryMb: LIMITS.isolateMemoryMb,
};

export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const { db, components, opener } = options;

  async function runHook(runtime: SourceRuntime, hook: HookName): Promise<RunResult> {
    if (!runtime.hooks.includes(hook)) return { ok: true };
    return options.runTask({ runtime, entry: { kind: 'hook', hook }, kind: `hook:${hook}`, limits: HOOK_LIMITS });
  }

  async function runtimeNow(id: string): Promise<SourceRuntime> {
    const row = await readSourceRuntime(db.sql, id);
    if (row === undefined) throw notFound('source', id);
    return runtimeOf(row, opener);
  }

  async function chooseComponent(who: Principal, input: SourceCreate | SourceUpdate): Promise<ComponentRecord> {
    const { componentId, componentCode, componentUrl } = input;
    if (componentId === undefined && componentCode === undefined && componentUrl === undefined) {
      const message = 'Give component_id, component_code or component_url';
      throw new HeadwaterError('INVALID_REQUEST', message, { fields: [{ path: 'component_id', message }] });
    }
    const byCode = componentCode !== undefined || componentId === undefined;
    const component = byCode ? await components.save(who, input) : await components.get(who, componentId);
    if (component.type === 'action') {
      throw new HeadwaterError('INVALID_REQUEST', `${component.id} is an action; only sources can be deployed`);
    }
    return component;
  }

  async function insert(who: Principal, component: ComponentRecord, input: SourceCreate): Promise<InsertedSource> {
    const name = input.name ?? component.name;
    const values = validateProps(component.configurableProps, input.configuredProps ?? {});
    const configuredProps = sealSecrets(opener, who.accountId, component.configurableProps, values);
    for (let tries = 1; ; tries++) {
      const taken = await readTakenSlugs(db.sql, who.accountId, slugOf(name));
      try {
        const id = await createSource(db.sql, {
          accountId: who.accountId,
          userId: who.userId,
          componentId: component.id,
          name,
          nameSlug: freeSlug(slugOf(name), taken),
          configuredProps,
          httpProps: httpPropsOf(component.configurableProps),
          busySeconds: CHANGE_LEASE_SECONDS,
        });
        return { id, configuredProps };
      } catch (error) {
        // Another deployment took the slug between our look and our insert.
        if (!isSlugConflict(error) || tries === MAX_SLUG_TRIES) throw error;
      }
    }
  }

  async function begin(who: Principal, id: string): Promise<void> {
    const begun = await beginSourceChange(db.sql, who.accountId, id, CHANGE_LEASE_SECONDS);
    if (begun === 'absent') throw notFound('source', id);
    if (begun === 'busy') {
      throw new HeadwaterError('CONFLICT', `Another change of source ${id} is under way; try again when it has ended`);
    }
  }

  async function put(who: Principal, id: string, change: SourceChange): Promise<void> {
    await putSourceChange(db.sql, who.accountId, id, change);
    options.forget(id);
  }

  async function end(who: Principal, id: string, interfaces: Interfaces): Promise<void> {
    await endSourceChange(db.sql, who.accountId, id, interfaces);
    options.forget(id);
  }

  async function changeHeld(who: Principal, row: SourceRow, input: SourceUpdate): Promise<void> {
    const before = beforeOf(row);
    const { after, definitions } = await afterOf(who, row, input);
    const isRedeploy = after.componentId !== before.componentId || input.configuredProps !== undefined;
    const stops = row.active && (isRedeploy || !after.active);
    const starts = after.active && (isRedeploy || !row.active);
    if (stops) {
      const stopped = await runHook(await runtimeNow(row.id), 'deactivate');
      if (!stopped.ok) options.log.info({ source: row.id }, 'a deactivate hook failed and was passed over');
    }
    // Endpoints of both: a change that is taken back must not have cost the source its URLs.
    await put(who, row.id, { ...after, httpProps: [...before.httpProps, ...after.httpProps] });
    if (starts) {
      const started = await runHook(await runtimeNow(row.id), 'activate');
      if (!started.ok) {
        await put(who, row.id, before);
        if (row.active) await runHook(await runtimeNow(row.id), 'activate');
        throw hookFailed('activate', started);
      }
    }
    await end(who, row.id, interfacesOf(definitions, after.configuredProps));
  }

  async function afterOf(
    who: Principal,
    row: SourceRow,
    input: SourceUpdate,
  ): Promise<{ after: SourceChange; definitions: readonly PropDefinition[] }> {
    const hasCode =
      input.componentId !== undefined || input.componentCode !== undefined || input.componentUrl !== undefined;
    const component = hasCode ? await chooseComponent(who, input) : undefined;
    const definitions = component?.configurableProps ?? row.configurable_props;
    const configuredProps =
      component === undefined && input.configuredProps === undefined
        ? row.configured_props
        : mergeProps(opener, who.accountId, definitions, row.configured_props, input.configuredProps ?? {});
    const name = input.name ?? row.name;
    const nameSlug =
      name === row.name
        ? row.name_slug
        : freeSlug(slugOf(name), await readTakenSlugs(db.sql, who.accountId, slugOf(name), row.id));
    return {
      after: {
        componentId: component?.id ?? row.component_id,
        configuredProps,
        name,
        nameSlug,
        active: input.active ?? row.active,
        httpProps: httpPropsOf(definitions),
      },
      definitions,
    };
  }

  return {
    async deploy(who, input) {
      const component = await chooseComponent(who, input);
      const { id, configuredProps } = await insert(who, component, input);
      try {
        for (const hook of ['deploy', 'activate'] as const) {
          const result = await runHook(await runtimeNow(id), hook);
          if (!result.ok) throw hookFailed(hook, result);
        }
        await end(who, id, interfacesOf(component.configurableProps, configuredProps));
      } catch (error) {
        await dropUndeployedSource(db.sql, who.accountId, id);
        options.forget(id);
        throw error;
      }
      return id;
    },
    async change(who, id, input) {
      await begin(who, id);
      const row = await readSource(db.sql, who.accountId, id);
      if (row === undefined) throw notFound('source', id);
      try {
        await changeHeld(who, row, input);
      } catch (error) {
        await end(who, id, interfacesOf(row.configurable_props, row.configured_props));
        throw error;
      }
    },
    async delete(who, id) {
      await begin(who, id);
      const runtime = await runtimeNow(id);
      if (runtime.active) await runHook(runtime, 'deactivate');
      await deleteSource(db.sql, who.accountId, id);
      options.forget(id);
    },
  };
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

function hookFailed(hook: HookName, result: Extract<RunResult, { ok: false }>): HeadwaterError {
  const logs = result.logs.slice(-5).join('\n');
  const fields = [{ path: `hooks.${hook}`, message: result.message }];
  if (logs !== '') fields.push({ path: `hooks.${hook}.logs`, message: logs });
  return new HeadwaterError('HOOK_FAILED', `The ${hook} hook failed: ${result.message}`, { fields });
}

function isSlugConflict(error: unknown): boolean {
  const { code, constraint_name: constraint } = (error ?? {}) as { code?: string; constraint_name?: string };
  return code === '23505' && constraint === 'sources_slug';
}
