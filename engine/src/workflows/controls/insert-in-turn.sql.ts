import { addJobs, type Sql, type Transaction } from '../../db/index.ts';
import { insertInvocationRows, type NewInvocation, runLane } from '../../runs/index.ts';
import { laterTurn } from './claim-executions.sql.ts';

/** For the case that the caller cannot start the next execution at once. */
const LATER_MS = 1_000;

/** An invocation of a workflow whose settings control when its executions start. */
export interface NewTurn extends NewInvocation {
  /** How many may wait before this one is refused. Default: any number. */
  queueLimit?: number | undefined;
}

/**
 * Queues executions in this order, and returns for each whether there was room. Two nodes that
 * insert at the same moment may together exceed the limit. `startsNext`: the caller starts the next
 * executions itself, at once.
 */
export async function insertInTurn(
  sql: Sql,
  rows: readonly NewTurn[],
  { startsNext = false }: { startsNext?: boolean } = {},
): Promise<boolean[]> {
  return sql.begin(async (tx) => {
    const room = await readRoom(tx, rows);
    const hasRoom = rows.map(({ sourceId }) => {
      const left = room.get(sourceId) ?? Number.POSITIVE_INFINITY;
      room.set(sourceId, left - 1);
      return left > 0;
    });
    const accepted = rows.filter((_, i) => hasRoom[i]);
    if (accepted.length === 0) return hasRoom;
    const workflowIds = new Set(accepted.map(({ sourceId }) => sourceId));
    await insertInvocationRows(tx, accepted);
    await addJobs(
      tx,
      [...workflowIds].map((workflowId) => (startsNext ? laterTurn(workflowId, LATER_MS) : runLane(workflowId))),
    );
    return hasRoom;
  });
}

/** Number of executions that may still wait, for workflows with a queue limit. */
async function readRoom(tx: Transaction, rows: readonly NewTurn[]): Promise<Map<string, number>> {
  const limits = new Map(rows.flatMap((row) => (row.queueLimit === undefined ? [] : [[row.sourceId, row.queueLimit]])));
  if (limits.size === 0) return new Map();
  const found = await tx<{ id: string; room: number }[]>`
    select q.id, q.most - (
      select count(*) from (
        select from invocations
        where source_id = q.id and leased_by is null and place is not null limit q.most
      ) as waiting
    ) as room
    from unnest(${[...limits.keys()]}::text[], ${[...limits.values()]}::int8[]) as q(id, most)`;
  return new Map(found.map(({ id, room }) => [id, room]));
}

/** No client waits for the execution any more: any node may start it. */
export async function clearWaitingClient(sql: Sql, executionId: string): Promise<void> {
  await sql`update invocations set wanted_by = null where id = ${executionId} and leased_by is null`;
}
