import { newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertInvocationRows, insertInvocations } from '../../../engine/src/runs/invocations.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { ADMIN_KEY, deploy, startServer, type TestServer } from '../../support/server.ts';

let test: TestDatabase;
let server: TestServer;
beforeAll(async () => {
  test = await createTestDatabase();
  server = await startServer({ databaseUrl: test.url });
});
afterAll(async () => {
  await server.stop();
  await test.drop();
});

const ROWS = 400;
/** A lane's batch, and as many again that run at the same time. */
const OUT_OF_PLACE = 128;
const COUNTS = `export default { name: "Counts", version: "1", props: { http: "$.interface.http" },
  async run(event) { this.$emit({ n: event.n }); } };`;

it('the invocations of a dead node are run oldest first, and at the same rate for all tenants', async () => {
  const { sql } = test.db;
  const { body } = await server.api('POST', '/accounts', { name: 'Other' }, ADMIN_KEY);
  const emitters = [
    (await deploy(server, COUNTS)).id,
    (await deploy(server, COUNTS, { key: body.data.api_key as string })).id,
  ];
  const owners = await sql<{ id: string; account_id: string }[]>`
    select id, account_id from emitters where id = any(${emitters}::text[])`;
  // One after the other: in the order of their ids, the second tenant's are all younger.
  const acceptedMs = Date.now() - 60_000;
  const rows = owners.flatMap(({ id: sourceId, account_id: accountId }, tenant) =>
    Array.from({ length: ROWS }, (_, n) => ({
      id: newId('invocation', acceptedMs + tenant * ROWS + n),
      accountId,
      sourceId,
      kind: 'manual' as const,
      event: JSON.stringify({ n }),
      leasedBy: 'node_dead',
    })),
  );
  await insertInvocationRows(sql, rows);
  await eventually(async () => (await sql`select from invocations`).length === 0);
  const events = await sql<{ emitter_id: string; data: string }[]>`
    select emitter_id, data from events where emitter_id = any(${emitters}::text[]) order by indexed_at_ms, seq`;
  expect(events).toHaveLength(2 * ROWS);
  for (const { id } of owners) {
    const order = events
      .filter((row) => row.emitter_id === id)
      .map(({ data }) => (JSON.parse(data) as { n: number }).n);
    expect(new Set(order).size).toBe(ROWS);
    const outOfPlace = order.map((n, place) => Math.abs(n - place));
    expect(Math.max(...outOfPlace)).toBeLessThanOrEqual(OUT_OF_PLACE);
  }
  const firstHalf = events.slice(0, ROWS).filter((row) => row.emitter_id === owners[0]?.id).length;
  expect(firstHalf).toBeGreaterThan(ROWS / 4);
  expect(firstHalf).toBeLessThan((ROWS * 3) / 4);
});

it('an invocation that has waited for a year is run like all others', async () => {
  const { sql } = test.db;
  const { id: sourceId } = await deploy(server, COUNTS);
  const [owner] = await sql<{ account_id: string }[]>`select account_id from emitters where id = ${sourceId}`;
  const id = newId('invocation', Date.now() - 365 * 24 * 3600 * 1000);
  const row = { id, accountId: owner?.account_id ?? '', sourceId, kind: 'manual' as const, event: '{"n":1}' };
  await insertInvocations(sql, [row]);
  const events = await eventually(async () => {
    const found = await sql<{ data: string }[]>`select data from events where emitter_id = ${sourceId}`;
    return found.length > 0 && found;
  });
  expect(events).toEqual([{ data: '{"n":1}' }]);
});
