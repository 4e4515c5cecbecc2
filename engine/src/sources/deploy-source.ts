import { chooseComponent } from '../components/choose-component.ts';
import { withComponents } from '../components/with-components.ts';
import type { ComponentRecord, Principal, SourceCreate } from '../contract/engine.ts';
import type { ChangeLease } from '../db/change-lease.ts';
import { createSource } from './create-source.sql.ts';
import { checkRoom } from '../accounts/require-room.sql.ts';
import { type DecidedProps, decideProps } from '../props/decide-props.ts';
import { httpPropsOf, interfacesOf } from '../props/interfaces.ts';
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
import { slugOf } from './name-slug.ts';

/**
 * Saved → deployed: the instance is made with its endpoints, `deploy` and `activate` run, then
 * timers start and the source is there to see. Answers its id. A hook that fails leaves nothing
 * behind; what it did elsewhere is `deactivate`'s to take back.
 */
export async function deploySource(context: LifecycleContext, who: Principal, input: SourceCreate): Promise<string> {
  const { accountId } = who;
  // Exact only where it is inserted; without this, what is refused there would have been bundled
  // and loaded first.
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
  { name, preflight = 'allow' }: Pick<SourceCreate, 'preflight'> & { name: string },
  { definitions, dynamicProps, configuredProps }: DecidedProps,
): Promise<ChangeLease> {
  const { accountId, userId } = who;
  const lease = leaseTerms(context);
  const source = {
    accountId,
    userId,
    componentId: component.id,
    name,
    nameSlug: slugOf(name),
    configuredProps,
    dynamicProps,
    httpProps: httpPropsOf(definitions),
    preflight,
    lease,
  };
  const sourceId = await context.room.make(accountId, (limits) => createSource(context.db.sql, source, limits));
  return { accountId, sourceId, changeId: lease.changeId, nodeId: lease.nodeId };
}
