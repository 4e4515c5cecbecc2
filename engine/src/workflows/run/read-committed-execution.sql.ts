import type { ExecutionCommit } from '../../runs/commit/execution-rows.ts';
import type { Sql } from '../../db/database.ts';

/**
 * Whether a commit without an answer was written. It is one transaction, so its end, or its last
 * step if it has no end, decides for all of it. Another holder would have written another time.
 */
export async function isExecutionCommitted(sql: Sql, { key, steps, end }: ExecutionCommit): Promise<boolean> {
  const last = steps.at(-1);
  const msOf = (column: string) => sql`round(extract(epoch from ${sql(column)}) * 1000)::float8`;
  const rows =
    end !== undefined || last === undefined
      ? await sql`select from executions where id = ${key.id} and ${msOf('ended_at')} = ${end?.endedAtMs ?? null}::float8`
      : await sql`
          select from execution_steps where execution_id = ${key.id} and position = ${last.position}
            and runs = ${last.runs} and ${msOf('started_at')} = ${last.startedAtMs}::float8
            and ${msOf('ended_at')} = ${last.endedAtMs}::float8`;
  return rows.length > 0;
}
