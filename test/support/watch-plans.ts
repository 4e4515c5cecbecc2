import { type Database, openDatabase, type Sql } from '../../engine/src/db/database.ts';

export interface WatchedPlans {
  sql: Sql;
  db: Database;
  /** The plans of all statements that `work` runs on this connection, as Postgres ran them. */
  of(work: () => Promise<unknown>): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * A connection that tells the plan of each statement. It runs the product's own functions: a copy
 * of their SQL would grow old.
 */
export async function watchPlans(url: string): Promise<WatchedPlans> {
  let plans: string[] = [];
  const db = openDatabase({
    url,
    maxConnections: 1,
    onNotice: (message) => {
      if (message.includes('plan:')) plans.push(message);
    },
  });
  const { sql } = db;
  await sql`load 'auto_explain'`;
  await sql`
    select set_config('auto_explain.log_level', 'notice', false), set_config('auto_explain.log_min_duration', '0', false)`;
  return {
    sql,
    db,
    async of(work) {
      plans = [];
      await work();
      return plans;
    },
    close: () => db.close(),
  };
}

/** Tables of which a plan reads all rows, one after the other. */
export function scannedTables(plan: string): string[] {
  return [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => table as string);
}
