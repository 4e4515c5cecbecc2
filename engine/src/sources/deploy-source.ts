import { chooseComponent, withComponents } from '../components/index.ts';
import type { ComponentRecord, Principal, SourceCreate } from '../contract/index.ts';
import type { ChangeLease } from '../db/index.ts';
import { createSource } from './create-source.sql.ts';
import { checkRoom } from '../accounts/index.ts';
import { type DecidedProps, decideProps, httpPropsOf, interfacesOf } from '../props/index.ts';
import {
  deactivate,
  dropUndeployed,
  endChange,
  hookFailed,
  isLeftToRecovery,
  leaseTerms,
  type LifecycleContext,
  runHook,
  whileHeld,
} from './lifecycle.ts';
import { nameSlugOf } from './name-slug.ts';

/**
 * Deploys a saved component: inserts the source with its endpoints, runs `deploy` and `activate`,
 * then starts timers and makes the source visible. Returns its id. After a failing hook no source
 * is left; `deactivate` must undo the hook's external effects.
 */
export async function deploySource(context: LifecycleContext, who: Principal, input: SourceCreate): Promise<string> {
  const { accountId } = who;
  // An early check: only the insertion is exact. Otherwise a refused component would first be
  // bundled and loaded.
  await checkRoom(context.db.sql, accountId, await context.room.limits(accountId), 'maxSources');
  return context.changeTurns.run(accountId, () => withComponents(context, who, (own) => deploy(own, who, input)));
}

async function deploy(context: LifecycleContext, who: Principal, input: SourceCreate): Promise<string> {
  const component = await chooseComponent(context.components, who, input, { of: 'source' });
  const props = await decideProps(context, who, component, input);
  const lease = await insertSource(context, who, component, { ...input, name: input.name ?? component.name }, props);
  await whileHeld(context, lease, () => finishDeployment(context, lease, props));
  return lease.sourceId;
}

async function finishDeployment(context: LifecycleContext, lease: ChangeLease, props: DecidedProps): Promise<void> {
  try {
    await runFirstHooks(context, lease);
    await endChange(context, lease, interfacesOf(props.definitions, props.configuredProps));
  } catch (error) {
    if (await isLeftToRecovery(context, lease, error)) throw error;
    await dropUndeployed(context, lease);
    throw error;
  }
}

async function runFirstHooks(context: LifecycleContext, lease: ChangeLease): Promise<void> {
  for (const hook of ['deploy', 'activate'] as const) {
    const result = await runHook(context, lease, hook);
    if (result.ok) continue;
    throw hookFailed(hook, result, [{ hook: 'deactivate', result: await deactivate(context, lease) }]);
  }
}

async function insertSource(
  context: LifecycleContext,
  who: Principal,
  component: ComponentRecord,
  {
    name,
    preflight = 'allow',
    durability = 'stored',
  }: Pick<SourceCreate, 'preflight' | 'durability'> & { name: string },
  { definitions, dynamicProps, configuredProps }: DecidedProps,
): Promise<ChangeLease> {
  const { accountId, userId } = who;
  const lease = leaseTerms(context);
  const source = {
    accountId,
    userId,
    componentId: component.id,
    name,
    nameSlug: nameSlugOf(name),
    configuredProps,
    dynamicProps,
    httpProps: httpPropsOf(definitions),
    preflight,
    durability,
    lease,
  };
  const sourceId = await context.room.make(accountId, (limits) => createSource(context.db.sql, source, limits));
  return { accountId, sourceId, changeId: lease.changeId, nodeId: lease.nodeId };
}
