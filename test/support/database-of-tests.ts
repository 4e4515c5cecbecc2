import { afterAll, beforeAll } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';

/**
 * A database for the tests of one file, dropped after them. Call it once, at the top of the file.
 */
export function databaseOfTests(): Omit<TestDatabase, 'drop'> {
  let database: TestDatabase | undefined;
  const made = (): TestDatabase => {
    if (database === undefined) throw new Error('The database is there from beforeAll on, not before');
    return database;
  };
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database?.drop());
  return {
    get url() {
      return made().url;
    },
    get db() {
      return made().db;
    },
  };
}
