import { newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../../../engine/src/contract/base.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import { createTraces } from '../../../engine/src/observe/traces/traces.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** The client, but `after` is awaited behind the first statement that contains `words`. */
function interrupted(sql: Sql, words: string, after: () => Promise<unknown>): Sql {
  let isOver = false;
  const wrap = <T extends object>(target: T): T =>
    new Proxy(target, {
      apply(call, _this, args: [TemplateStringsArray]) {
        const query = Reflect.apply(call as unknown as () => Promise<unknown>, undefined, args);
        if (isOver || !args[0].raw?.join('').includes(words)) return query;
        isOver = true;
        return query.then(async (rows: unknown) => {
          await after();
          return rows;
        });
      },
      get(owner, key) {
        const value: unknown = Reflect.get(owner, key);
        if (key !== 'begin') return value;
        return (work: (tx: object) => unknown) => sql.begin((tx) => work(wrap(tx)));
      },
    });
  return wrap(sql);
}

test('a trace shows no end of a run without its events, whenever the run ends', async () => {
  const { sql } = database.db;
  const accountId = await insertAccount(sql);
  const sourceId = await insertSource(sql, accountId);
  const id = newId('invocation');
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, leased_by)
    values (${id}, ${accountId}, ${sourceId}, 'manual', '1', 'node_a')`;
  const endRun = () =>
    sql.begin(async (tx) => {
      await tx`delete from invocations where id = ${id}`;
      await tx`
        insert into runs (id, account_id, source_id, kind, status, logs, started_at, ended_at)
        values (${id}, ${accountId}, ${sourceId}, 'manual', 'ok', '[]', now(), now())`;
      await tx`
        insert into events (emitter_id, account_id, indexed_at_ms, seq, invocation_id, channel, data)
        values (${sourceId}, ${accountId}, 1, 0, ${id}, '', '{"n":1}')`;
    });
  const principal = { accountId } as Principal;
  const during = createTraces(interrupted(sql, 'from events where coalesce', endRun));
  const { runs } = await during.get(principal, id);
  expect(runs).toMatchObject([{ id, status: 'running', events: [] }]);
  const after = await createTraces(sql).get(principal, id);
  expect(after.runs).toMatchObject([{ id, status: 'ok', events: [{}] }]);
});
