import type { Sql } from '../../engine/src/db/database.ts';
import type { JobState } from './model-nodes.ts';

interface LeaseState {
  holder: string | null;
  claim: number;
  attempts: number;
}

export interface StepState {
  position: number;
  status: string;
  runs: number;
  value: string;
  exports: string;
  emits: boolean;
}

export interface WaitState {
  kind: string;
  position: number;
  runs: number;
  token: string;
  data: string | null;
  earlyToken: string | null;
  earlyData: string | null;
  wakeAtMs: number;
}

/** All that the database has of one execution. */
export interface ExecutionState {
  workflow: string;
  /** Null once it has ended. */
  lease: LeaseState | null;
  record: { status: string; hasEnded: boolean; replayOf: string | null } | null;
  wait: WaitState | null;
  steps: StepState[];
  /** Number of emitted events. */
  events: number;
  /** Entries of `$errors`. */
  errors: number;
}

export interface ExecutionRows {
  executions: Map<string, ExecutionState>;
  jobs: JobState[];
  nodes: Set<string>;
  /** Workflows that take executions on. */
  active: Set<string>;
  deleted: Set<string>;
  /** The workflow that takes turns. */
  inTurn: string | undefined;
}

export async function readExecutionRows(sql: Sql, workflows: readonly string[]): Promise<ExecutionRows> {
  const [row] = await sql<
    {
      executions: (ExecutionState & { id: string })[] | null;
      jobs: JobState[] | null;
      nodes: string[] | null;
      emitters: { id: string; active: boolean; deleted: boolean }[];
    }[]
  >`
    with known as (
      select id, source_id as workflow from invocations
      union select id, workflow_id from executions
      union select execution_id, workflow_id from execution_waits
      union select s.execution_id, d.workflow_id from execution_steps s join deployments d on d.id = s.deployment_id
    )
    select
      (select json_agg(json_build_object('id', k.id, 'workflow', k.workflow,
        'lease', (select json_build_object('holder', leased_by, 'claim', claim, 'attempts', attempts)
          from invocations i where i.id = k.id),
        'record', (select json_build_object('status', status, 'hasEnded', ended_at is not null, 'replayOf', replay_of)
          from executions e where e.id = k.id),
        'wait', (select json_build_object('kind', kind, 'position', position, 'runs', runs, 'token', token,
            'data', resume_data, 'earlyToken', early_token, 'earlyData', early_data,
            'wakeAtMs', extract(epoch from wake_at)::float8 * 1000)
          from execution_waits w where w.execution_id = k.id),
        'steps', (select coalesce(json_agg(json_build_object('position', position, 'status', status, 'runs', runs,
            'value', value, 'exports', exports, 'emits', sends is not null) order by position), '[]')
          from execution_steps s where s.execution_id = k.id),
        'events', (select count(*) from events v where v.invocation_id = k.id and v.channel = ''),
        'errors', (select count(*) from events v where v.invocation_id = k.id and v.channel = '$errors')
      ) order by k.id) from known k) as executions,
      (select json_agg(json_build_object('id', id::text, 'key', key, 'pool', locked_by,
        'runAtMs', extract(epoch from run_at)::float8 * 1000))
        from graphile_worker._private_jobs where key is not null) as jobs,
      (select json_agg(id) from nodes) as nodes,
      (select json_agg(json_build_object('id', id, 'active', active, 'deleted', deleted_at is not null))
        from emitters where id = any(${[...workflows]}::text[])) as emitters`;
  const emitters = row?.emitters ?? [];
  const ids = (those: typeof emitters) => new Set(those.map(({ id }) => id));
  return {
    executions: new Map((row?.executions ?? []).map(({ id, ...state }) => [id, state])),
    jobs: row?.jobs ?? [],
    nodes: new Set(row?.nodes ?? []),
    active: ids(emitters.filter(({ active, deleted }) => active && !deleted)),
    deleted: ids(emitters.filter(({ deleted }) => deleted)),
    inTurn: workflows[0],
  };
}
