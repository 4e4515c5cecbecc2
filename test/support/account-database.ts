import { afterAll, beforeAll } from 'vitest';
import type { Sql } from '../../engine/src/db/database.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { insertAccount } from './source-rows.ts';

export interface AccountDatabase {
  readonly sql: Sql;
  readonly accountId: string;
}

/**
 * A database with one account and without a node, for one file of tests. Call it once, at the top.
 */
export function accountDatabase(): AccountDatabase {
  let made: { database: TestDatabase; accountId: string } | undefined;
  beforeAll(async () => {
    const database = await createTestDatabase();
    made = { database, accountId: await insertAccount(database.db.sql) };
  });
  afterAll(() => made?.database.drop());
  const there = () => {
    if (made === undefined) throw new Error('The database is there from beforeAll on');
    return made;
  };
  return {
    get sql() {
      return there().database.db.sql;
    },
    get accountId() {
      return there().accountId;
    },
  };
}
