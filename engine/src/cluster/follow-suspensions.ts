import type { LimitsCache } from '../accounts/index.ts';
import type { Log } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import type { Deliverer, SendRunner } from '../outbox/index.ts';
import type { Dispatcher } from '../runs/index.ts';
import { requeueAccount } from './requeue.sql.ts';

export interface SuspensionParts {
  sql: Sql;
  limits: Pick<LimitsCache, 'onSuspension'>;
  dispatcher: Pick<Dispatcher, 'giveBack' | 'startMore'>;
  deliverer: Pick<Deliverer, 'giveBack' | 'resume'>;
  sends: Pick<SendRunner, 'resume'>;
  log: Log;
}

/**
 * Holds what an account has when the operator suspends it, and goes on when that ends. The lanes of
 * a suspended account end without another job, so every node that hears of the end adds them: a
 * lane that another node took before it heard would otherwise be lost until maintenance finds it.
 */
export function followSuspensions({ sql, limits, dispatcher, deliverer, sends, log }: SuspensionParts): void {
  limits.onSuspension((accountId, isSuspended) => {
    if (isSuspended) {
      dispatcher.giveBack(accountId);
      // The lanes of all accounts: a suspension is rare, and the others' come back with their
      // lanes.
      void deliverer.giveBack();
      return;
    }
    dispatcher.startMore();
    deliverer.resume(accountId);
    sends.resume(accountId);
    requeueAccount(sql, accountId).catch((err: unknown) =>
      log.warn({ err, account: accountId }, 'lanes of a resumed account were not queued; maintenance finds them'),
    );
  });
}
