import { afterAll, beforeAll, expect, test } from 'vitest';
import { longTexts } from '../../../engine/src/db/long-texts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { fc } from '../../support/properties.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('texts of any content arrive unchanged and in order', async () => {
  const part = fc.constantFrom('\u0001', '\u0002', '', '"', '\\', '{', '}', ',', 'null', 'NULL', 'é', '日', '\n', 'a');
  const text = fc.oneof(
    fc.array(part, { maxLength: 6 }).map((parts) => parts.join('')),
    fc.constant(null),
  );
  const texts = fc.array(text, { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(texts, async (given) => {
      const { sql } = database.db;
      const rows =
        await sql`select text from unnest(${longTexts(sql, given)}) with ordinality as t(text, at) order by at`;
      expect(rows.map((row) => row['text'] as string | null)).toEqual(given);
    }),
    { numRuns: 300 },
  );
});
