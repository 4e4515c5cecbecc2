import type { LimitsCache } from '../accounts/index.ts';
import type { Log } from '../contract/index.ts';
import type { SourceRuntimes } from '../runs/index.ts';
import {
  ACCOUNT_CHANGED_CHANNEL,
  CONNECTED_ACCOUNT_CHANGED_CHANNEL,
  ENVIRONMENT_CHANGED_CHANNEL,
  SOURCE_CHANGED_CHANNEL,
  type Sql,
  WEBHOOK_CHANGED_CHANNEL,
} from '../db/index.ts';
import type { RecentReads } from '../fairness/index.ts';

export interface CachingParts {
  runtimes: Pick<SourceRuntimes, 'forget' | 'forgetAll'>;
  workflows: Pick<RecentReads<unknown>, 'forget' | 'forgetAll'>;
  ingest: { forgetSource(sourceId: string): void; forgetAll(): void };
  limits: LimitsCache;
  auth: { forget(id: string): void; forgetAll(): void };
  environment: { forget(accountId: string): void; forgetAll(): void };
  deliverer: { giveBack(webhookId?: string): Promise<void> };
  log: Log;
}

export interface Changes {
  /** For a change that this node makes itself: it does not wait to hear of it. */
  forget: (sourceId: string) => void;
  stop: () => Promise<void>;
}

/**
 * Drops sources, workflows, routes, limits, variables and tokens from memory, and what waits there
 * for webhooks, when any node has changed them.
 */
export async function followChanges(sql: Sql, parts: CachingParts): Promise<Changes> {
  const { runtimes, workflows, ingest, limits, auth, environment, deliverer, log } = parts;
  const forget = (sourceId: string) => {
    runtimes.forget(sourceId);
    workflows.forget(sourceId);
    ingest.forgetSource(sourceId);
  };
  // After every (re)connection of the listener: changes may have been missed while it was away.
  const forgetAll = () => {
    runtimes.forgetAll();
    workflows.forgetAll();
    ingest.forgetAll();
  };
  const refreshLimits = (accountId: string) => {
    limits.refresh(accountId).catch((err: unknown) => log.warn({ err }, 'limits that were changed could not be read'));
  };
  const sources = await sql.listen(SOURCE_CHANGED_CHANNEL, forget, forgetAll);
  const accounts = await sql.listen(ACCOUNT_CHANGED_CHANNEL, refreshLimits, limits.forgetAll);
  const variables = await sql.listen(ENVIRONMENT_CHANGED_CHANNEL, environment.forget, environment.forgetAll);
  const connected = await sql.listen(CONNECTED_ACCOUNT_CHANGED_CHANNEL, auth.forget, auth.forgetAll);
  const giveBack = (webhookId?: string) => void deliverer.giveBack(webhookId);
  const webhooks = await sql.listen(WEBHOOK_CHANGED_CHANNEL, giveBack, () => giveBack());
  return {
    forget,
    async stop() {
      await webhooks.unlisten();
      await connected.unlisten();
      await variables.unlisten();
      await accounts.unlisten();
      await sources.unlisten();
    },
  };
}
