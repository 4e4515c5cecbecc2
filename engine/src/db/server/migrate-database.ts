import { findCluster, keepFromRoot } from './data-owner.ts';
import { joinDatabase } from './join-database.ts';
import { listMigrations, migrate, planMigrations } from './migrate.ts';
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
    return { ...(await versionsAround(applied)), applied };
  } finally {
    await prepared.stop();
  }
}

export interface MigrationPlan {
  /** As in MigratedDatabase. */
  from: number;
  to: number;
  /** Files that would be applied, in their order. */
  pending: string[];
}

/** Says which files migrateDatabase would apply. Changes nothing, and makes no database. */
export async function planDatabase(options: PrepareDatabaseOptions): Promise<MigrationPlan> {
  if (options.databaseUrl === undefined && !(await findCluster(options.dataDir))) {
    return { from: 0, to: numberOf((await listMigrations()).at(-1)), pending: await listMigrations() };
  }
  const joined = await joinDatabase(options);
  try {
    const pending = await planMigrations(joined.currentUrl);
    return { ...(await versionsAround(pending)), pending };
  } finally {
    await joined.stop();
  }
}

async function versionsAround(applied: readonly string[]): Promise<{ from: number; to: number }> {
  const all = await listMigrations();
  const before = all.filter((name) => !applied.includes(name));
  return { from: numberOf(before.at(-1)), to: numberOf(all.at(-1)) };
}

async function joinOrMake(options: PrepareDatabaseOptions): Promise<PreparedDatabase> {
  if (options.databaseUrl !== undefined || (await findCluster(options.dataDir))) return joinDatabase(options);
  await keepFromRoot(options.dataDir);
  return prepareDatabase(options);
}

function numberOf(name: string | undefined): number {
  return name === undefined ? 0 : Number(name.slice(0, 4));
}
