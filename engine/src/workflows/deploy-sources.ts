import { HeadwaterError } from '@headwater/shared';
import type { Principal } from '../contract-base.ts';
import type { Sources } from '../contract.ts';
import type { Log } from '../log.ts';
import type { Trigger } from './deployment.ts';
import type { PlannedTrigger } from './plan-triggers.ts';

export interface SourceContext {
  sources: Pick<Sources, 'create' | 'delete'>;
  log: Log;
}

/**
 * Deploys the sources of triggers, one after the other, and does `work` with all triggers. Where anything of that fails, those
 * that were deployed are deleted again.
 */
export async function withSources<T>(
  context: SourceContext,
  who: Principal,
  planned: readonly PlannedTrigger[],
  work: (triggers: Trigger[]) => Promise<T>,
): Promise<T> {
  const made: string[] = [];
  try {
    const triggers: Trigger[] = [];
    for (const trigger of planned) {
      if (trigger.type !== 'deploy') {
        triggers.push(trigger);
        continue;
      }
      const id = await deploySource(context, who, trigger);
      made.push(id);
      triggers.push({ id, type: 'source', sourceId: id, eventName: trigger.eventName, deployed: true });
    }
    return await work(triggers);
  } catch (error) {
    for (const id of made.toReversed()) await takeBack(context, who, id);
    throw error;
  }
}

/** What is wrong with it is wrong with its trigger. */
async function deploySource(
  { sources }: SourceContext,
  who: Principal,
  { source, path }: Extract<PlannedTrigger, { type: 'deploy' }>,
): Promise<string> {
  try {
    return (await sources.create(who, source)).id;
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error;
    const { code, message, limit, fields } = error;
    throw new HeadwaterError(code, `${path}: ${message}`, {
      fields: fields.map((field) => ({
        ...field,
        path: `${path}.${field.path.replace(/^configured_props\b/, 'props')}`,
      })),
      ...(limit === undefined ? {} : { limit }),
      cause: error,
    });
  }
}

async function takeBack({ sources, log }: SourceContext, who: Principal, id: string): Promise<void> {
  try {
    await sources.delete(who, id);
  } catch (err) {
    // The caller is told why the workflow failed, which is the reason for this.
    log.warn({ err, source: id }, 'a source of a workflow that could not be deployed is left');
  }
}
