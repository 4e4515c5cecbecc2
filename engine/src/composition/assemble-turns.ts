import { LIMITS } from '@headwater/shared';
import type { Log } from '../contract/log.ts';
import type { Dispatcher } from '../runs/dispatcher.ts';
import { TURN_CHANNEL } from '../workflows/controls/claim-executions.sql.ts';
import type { Sql } from '../db/database.ts';
import { clearWantedBy } from '../workflows/controls/clear-wanted-by.sql.ts';
import { createTurns, type Turns } from '../workflows/controls/turns.ts';
import { createWaitingClients, type WaitingClients } from '../runs/waiting-clients.ts';

export interface TurnParts {
  turns: Turns;
  clients: WaitingClients;
  /**
   * Goes on where another node says that the next execution is this one's. Answers what ends that.
   */
  listen(): Promise<() => Promise<void>>;
}

export interface TurnPartsOptions {
  sql: Sql;
  nodeId: () => string;
  dispatcher: () => Pick<Dispatcher, 'capacity' | 'take'>;
  /** Nothing of such an account starts. */
  isSuspended: (accountId: string) => boolean;
  log: Log;
}

/** What starts executions of workflows that take turns, on this node. */
export function assembleTurns(options: TurnPartsOptions): TurnParts {
  const { sql, log } = options;
  const clients = createWaitingClients({
    maxWaitMs: LIMITS.maxTurnWaitMs,
    onLeft: (id) => {
      clearWantedBy(sql, id).catch((err: unknown) => log.warn({ err, id }, 'an execution stays bound to this node'));
    },
  });
  const turns = createTurns({ ...options, clients });
  return {
    turns,
    clients,
    async listen() {
      const { unlisten } = await sql.listen(TURN_CHANNEL, (payload) => {
        const [nodeId, accountId, workflowId] = payload.split(' ');
        if (nodeId !== options.nodeId() || accountId === undefined || workflowId === undefined) return;
        turns.next({ accountId, workflowId });
      });
      return unlisten;
    },
  };
}
