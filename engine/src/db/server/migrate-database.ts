import { findCluster, keepFromRoot } from './data-owner.ts';
import { joinDatabase } from './join-database.ts';
import { listMigrations, migrate } from './migrate.ts';
import { prepareDatabase, type PrepareDatabaseOptions, type PreparedDatabase } from './prepare-database.ts';

export interface MigratedDatabase {
  /** Numbers of the last migration before and now; 0: there was none. */
  from: number;
  to: number;
  applied: string[];
}

/**
 * Only the database part of a node's start. Joins an embedded server that already runs, even with
 * its node.
 */
export async function migrateDatabase(options: PrepareDatabaseOptions): Promise<MigratedDatabase> {
  const prepared = await joinOrMake(options);
  try {
    const applied = await migrate({ url: prepared.currentUrl, log: options.log });
    const all = await listMigrations();
    const before = all.filter((name) => !applied.includes(name));
    return { from: numberOf(before.at(-1)), to: numberOf(all.at(-1)), applied };
  } finally {
    await prepared.stop();
  }
}

async function joinOrMake(options: PrepareDatabaseOptions): Promise<PreparedDatabase> {
  if (options.databaseUrl !== undefined || (await findCluster(options.dataDir))) return joinDatabase(options);
  await keepFromRoot(options.dataDir);
  return prepareDatabase(options);
}

function numberOf(name: string | undefined): number {
  return name === undefined ? 0 : Number(name.slice(0, 4));
}
