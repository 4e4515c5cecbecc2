import type { ComponentRecord, Principal, SourceCreate } from '../contract.ts';
import { createSource } from '../store/create-source.ts';
import { dropUndeployedSource } from '../store/delete-source.ts';
import { readTakenSlugs } from '../store/read-taken-slugs.ts';
import { httpPropsOf, interfacesOf } from './interfaces.ts';
import {
  changeLeaseSeconds,
  chooseComponent,
  endChange,
  hookFailed,
  type LifecycleContext,
  runHook,
} from './lifecycle.ts';
import { freeSlug, slugOf } from './name-slug.ts';
import { sealSecrets } from './seal-props.ts';
import { validateProps } from './validate-props.ts';

const MAX_SLUG_TRIES = 5;

/**
 * Saved → deployed: the instance is made with its endpoints, `deploy` and `activate` run, then timers start and the source
 * is there to see. Answers its id. A hook that fails leaves nothing behind.
 */
export async function deploySource(context: LifecycleContext, who: Principal, input: SourceCreate): Promise<string> {
  const component = await chooseComponent(context, who, input);
  const definitions = component.configurableProps;
  const values = validateProps(definitions, input.configuredProps ?? {});
  const configuredProps = sealSecrets(context.sealer, who.accountId, definitions, values);
  const id = await insertSource(context, who, component, input.name ?? component.name, configuredProps);
  try {
    for (const hook of ['deploy', 'activate'] as const) {
      const result = await runHook(context, id, hook);
      if (!result.ok) throw hookFailed(hook, result);
    }
    await endChange(context, who, id, interfacesOf(definitions, configuredProps));
  } catch (error) {
    await dropUndeployedSource(context.db.sql, who.accountId, id);
    context.forget(id);
    throw error;
  }
  return id;
}

async function insertSource(
  context: LifecycleContext,
  who: Principal,
  component: ComponentRecord,
  name: string,
  configuredProps: Record<string, unknown>,
): Promise<string> {
  const { db } = context;
  const busySeconds = await changeLeaseSeconds(context, who.accountId);
  for (let tries = 1; ; tries++) {
    const taken = await readTakenSlugs(db.sql, who.accountId, slugOf(name));
    try {
      return await createSource(db.sql, {
        accountId: who.accountId,
        userId: who.userId,
        componentId: component.id,
        name,
        nameSlug: freeSlug(slugOf(name), taken),
        configuredProps,
        httpProps: httpPropsOf(component.configurableProps),
        busySeconds,
      });
    } catch (error) {
      // Another deployment took the slug between our look and our insert.
      if (!isSlugConflict(error) || tries === MAX_SLUG_TRIES) throw error;
    }
  }
}

function isSlugConflict(error: unknown): boolean {
  const { code, constraint_name: constraint } = (error ?? {}) as { code?: string; constraint_name?: string };
  return code === '23505' && constraint === 'sources_slug';
}
