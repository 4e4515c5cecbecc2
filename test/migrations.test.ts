import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from './support/database.ts';

const database = await createTestDatabase();
afterAll(() => database.drop());

test('a test database has the schema', async () => {
  const rows = await database.db.sql`select name from headwater_migrations`;
  expect(rows.length).toBeGreaterThan(0);
});
