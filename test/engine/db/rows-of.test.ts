import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../../engine/src/db/rows-of.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { fc } from '../../support/properties.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const LONG = 'a long text, "quoted" \\ '.repeat(4_000);

test('rows arrive as they are and in their order, few or many, with long texts and without', async () => {
  const text = fc.constantFrom('', 'a', '{"b":null}', '\u0001', 'é日', '\\', "'", null);
  const row = fc.record({
    text,
    int4: fc.constantFrom(0, -2_147_483_648, 2_147_483_647, null),
    int8: fc.constantFrom(1_790_000_000_000, -1, null),
    float8: fc.constantFrom(0.5, 1_790_000_000_000.25, null),
    long: fc.oneof(text, fc.constantFrom(LONG, `${LONG}\u0002`)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), async (given) => {
      const { sql } = database.db;
      const rows = await sql`
        select text, int4, int8, float8, long from ${rowsOf(sql, [
          ['int4', given.map((_, at) => at)],
          ['text', given.map((one) => one.text)],
          ['int4', given.map((one) => one.int4)],
          ['int8', given.map((one) => one.int8)],
          ['float8', given.map((one) => one.float8)],
          ['long', given.map((one) => one.long)],
        ])} as r(at, text, int4, int8, float8, long) order by at`;
      expect([...rows]).toEqual(given);
    }),
    { numRuns: 200 },
  );
});
