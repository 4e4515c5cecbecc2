import type { Sql } from '../../engine/src/db/database.ts';
import type { JobState } from './model-nodes.ts';

export interface InvocationState {
  source: string;
  holder: string | null;
  claim: number;
  attempts: number;
  crashes: number;
}

export interface DeliveryState {
  webhook: string;
  /** Invocation that emitted its event. */
  item: string;
  status: 'pending' | 'delivered' | 'failed' | 'cancelled';
  holder: string | null;
  count: number;
  /** Names of the attempts that were recorded. */
  attempts: string[];
  isDue: boolean;
  dueMs: number;
}

export interface LeaseRows {
  account: string;
  invocations: Map<string, InvocationState>;
  /** By the invocation that emitted them: one entry an event. */
  events: string[];
  /** Invocations that were given up, one entry for each record of it. */
  abandoned: string[];
  deliveries: Map<string, DeliveryState>;
  jobs: JobState[];
  nodes: Set<string>;
  /**
   * Sources that run, and no change of which was cut off: recovery ends such a one, and adds the
   * lane.
   */
  active: Set<string>;
}

export async function readLeaseRows(
  sql: Sql,
  { accountId, sources, webhooks }: { accountId: string; sources: string[]; webhooks: string[] },
): Promise<LeaseRows> {
  const [row] = await sql<
    {
      invocations: (InvocationState & { id: string })[] | null;
      events: string[] | null;
      abandoned: string[] | null;
      active: string[] | null;
      deliveries: (DeliveryState & { id: string })[] | null;
      jobs: JobState[] | null;
      nodes: string[] | null;
    }[]
  >`select
      (select json_agg(json_build_object('id', id, 'source', source_id, 'holder', leased_by, 'claim', claim, 'attempts', attempts,
          'crashes', crashes))
        from invocations where source_id = any(${sources}::text[])) as invocations,
      (select json_agg(emit_id) from events where channel = '' and emitter_id = any(${sources}::text[])) as events,
      (select json_agg(id) from abandoned_runs where source_id = any(${sources}::text[])) as abandoned,
      (select json_agg(id) from sources where active and change_id is null and deleted_at is null and id = any(${sources}::text[])) as active,
      (select json_agg(json_build_object('id', d.id, 'webhook', d.webhook_id, 'item', e.emit_id, 'status', d.status,
        'holder', d.leased_by, 'count', d.attempt_count, 'attempts', jsonb_path_query_array(d.attempts, '$[*].error'),
        'isDue', d.next_attempt_at <= now(), 'dueMs', extract(epoch from d.next_attempt_at) * 1000))
        from deliveries d left join events e
          on e.emitter_id = d.emitter_id and e.indexed_at_ms = d.indexed_at_ms and e.seq = d.seq
        where d.webhook_id = any(${webhooks}::text[])) as deliveries,
      (select json_agg(json_build_object('id', id::text, 'key', key, 'pool', locked_by, 'runAtMs', extract(epoch from run_at) * 1000))
        from graphile_worker._private_jobs where key is not null) as jobs,
      (select json_agg(id) from nodes) as nodes`;
  const byId = <T extends { id: string }>(rows: T[] | null | undefined) =>
    new Map((rows ?? []).map(({ id, ...rest }) => [id, rest]));
  return {
    account: accountId,
    invocations: byId(row?.invocations) as unknown as LeaseRows['invocations'],
    events: row?.events ?? [],
    abandoned: row?.abandoned ?? [],
    active: new Set(row?.active ?? []),
    deliveries: byId(row?.deliveries) as unknown as LeaseRows['deliveries'],
    jobs: row?.jobs ?? [],
    nodes: new Set(row?.nodes ?? []),
  };
}
