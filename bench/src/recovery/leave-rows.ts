import { newId } from '@headwater/shared';
import type { Sql } from '../../../engine/src/db/database.ts';
import { insertInvocationRows } from '../../../engine/src/runs/invocations.sql.ts';

/** The work of a node for one tenant. */
export interface Work {
  accountId: string;
  /** A source or workflow. */
  emitterId: string;
  propName: string;
  /** Webhook that receives the events. */
  webhookId?: string;
}

const BATCH = 1_000;

/** Reads the emitter of an endpoint. Throws if there is none. */
export async function readWork(sql: Sql, endpointUrl: string): Promise<Work> {
  const key = new URL(endpointUrl).pathname.split('/').at(-1) ?? '';
  const [row] = await sql<Work[]>`
    select account_id as "accountId", source_id as "emitterId", prop_name as "propName" from endpoints where key = ${key}`;
  if (row === undefined) throw new Error(`The endpoint ${endpointUrl} leads nowhere`);
  return row;
}

/** Requests that a node has accepted and not begun to run when it is killed. */
export async function leaveInvocations(sql: Sql, works: readonly Work[], each: number, body: (i: number) => string) {
  const deadNode = newId('node');
  for (let first = 0; first < each; first += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, each - first) }, (_, i) => first + i);
    for (const { accountId, emitterId: sourceId, propName: httpProp } of works) {
      await insertInvocationRows(
        sql,
        numbers.map((i) => ({
          id: newId(sourceId.startsWith('p_') ? 'execution' : 'invocation'),
          accountId,
          sourceId,
          kind: 'http' as const,
          httpProp,
          event: eventOf(body(i)),
          leasedBy: deadNode,
        })),
      );
    }
  }
  return deadNode;
}

const eventOf = (body: string) =>
  `{"method":"POST","path":"/","query":{},"headers":{"host":"127.0.0.1"},"url":"http://127.0.0.1/","rawQuery":"","bodyRaw":${JSON.stringify(body)},"body":${body}}`;

/** Deliveries of the newest events, as a node leaves them that has not begun to attempt them. */
export async function leaveDeliveries(sql: Sql, works: readonly Work[], each: number): Promise<string> {
  const deadNode = newId('node');
  await sql`
    update deliveries d set status = 'pending', leased_by = ${deadNode}, attempt_count = 0, attempts = '[]', next_attempt_at = now()
    from unnest(${works.map(({ webhookId }) => webhookId ?? '')}::text[]) as w(id), lateral (
      select n.id from deliveries n where n.webhook_id = w.id order by n.indexed_at_ms desc, n.seq desc limit ${each}
    ) as newest
    where d.webhook_id = w.id and d.id = newest.id`;
  return deadNode;
}

export interface Left {
  /** Still leased by a node. */
  leased: number;
  /** By emitter. */
  rows: Map<string, number>;
}

/** Without a node: no row counts as leased. */
export async function readLeft(sql: Sql, works: readonly Work[], nodeId = ''): Promise<Left> {
  const counts = await sql<{ emitter_id: string; count: number; leased: number }[]>`
    select emitter_id, count(*)::int4 as count, count(*) filter (where leased_by = ${nodeId})::int4 as leased from (
      select source_id as emitter_id, leased_by from invocations where source_id = any(${works.map((w) => w.emitterId)}::text[])
      union all
      select emitter_id, leased_by from deliveries
      where status = 'pending' and webhook_id = any(${works.flatMap((w) => w.webhookId ?? [])}::text[])
    ) as waiting group by 1`;
  return {
    leased: counts.reduce((sum, { leased }) => sum + leased, 0),
    rows: new Map(counts.map((row) => [row.emitter_id, row.count])),
  };
}
