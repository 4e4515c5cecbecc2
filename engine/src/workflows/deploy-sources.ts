import { HeadwaterError } from '@headwater/shared';
import type { Log, Principal, Sources } from '../contract/index.ts';
import { retryWhileAway, type Sql } from '../db/index.ts';
import { isDeploymentStored } from './put-deployment.sql.ts';
import type { Trigger } from './deployment.ts';
import type { PlannedTrigger } from './plan-triggers.ts';

export interface SourceContext {
  db: { sql: Sql };
  sources: Pick<Sources, 'create' | 'delete'>;
  log: Log;
}

/**
 * Deploys the sources of a version's triggers, one after the other, and stores the version with all
 * triggers. Where anything of that fails, those that were deployed are deleted again; not where the
 * version is stored, and only the answer to that was lost.
 */
export async function withSources(
  context: SourceContext,
  who: Principal,
  planned: { id: string; triggers: readonly PlannedTrigger[] },
  store: (triggers: Trigger[]) => Promise<void>,
): Promise<void> {
  const made: string[] = [];
  try {
    const triggers: Trigger[] = [];
    for (const trigger of planned.triggers) {
      if (trigger.type !== 'deploy') {
        triggers.push(trigger);
        continue;
      }
      const id = await deploySource(context, who, trigger);
      made.push(id);
      triggers.push({ id, type: 'source', sourceId: id, eventName: trigger.eventName, deployed: true });
    }
    await store(triggers);
  } catch (error) {
    const isStored = made.length > 0 && (await wasStored(context, who, { deploymentId: planned.id, made }, error));
    if (isStored === true) return;
    // The version may exist: without its sources it would receive no events, so keep them.
    if (isStored === undefined) throw error;
    for (const id of made.toReversed()) await takeBack(context, who, id);
    throw error;
  }
}

/** Reports a fault of the source as a fault of its trigger. */
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

/** Undefined: the database does not say. */
async function wasStored(
  { db, log }: SourceContext,
  { accountId }: Principal,
  { deploymentId, made }: { deploymentId: string; made: readonly string[] },
  error: unknown,
): Promise<boolean | undefined> {
  // Thrown before the commit.
  if (error instanceof HeadwaterError) return false;
  try {
    return await retryWhileAway(() => isDeploymentStored(db.sql, accountId, deploymentId));
  } catch (err) {
    const of = { deployment: deploymentId, sources: made };
    log.warn({ err, ...of }, 'sources are left of a version that may be stored or not');
    return undefined;
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
