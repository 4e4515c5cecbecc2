import { expect, test } from 'vitest';
import { newId } from '../../shared/src/index.ts';
import { cliWorld, ORDERS_SOURCE } from '../support/cli-world.ts';
import { action, untilExecutions } from '../support/executions.ts';
import { insertWorkflow } from '../support/workflow-rows.ts';

const world = cliWorld();

async function abandon(sourceId: string, total: number): Promise<string> {
  const id = newId('invocation');
  await world.hw.sql`
    insert into abandoned_runs (id, account_id, source_id, kind, hops, event, error_message)
    values (${id}, ${world.hw.accountId}, ${sourceId}, 'http', 0, ${JSON.stringify({ body: { total } })}, 'It ended')`;
  return id;
}

test('runs list shows what was given up, and runs retry runs it again: one, those of a source, those of a time', async () => {
  await world.write('orders.mjs', ORDERS_SOURCE);
  const [shop, other] = [
    await world.user.json('deploy', 'orders.mjs', '--name', 'shop'),
    await world.user.json('deploy', 'orders.mjs', '--name', 'other'),
  ];
  const one = await abandon(shop.id, 1);
  for (const total of [2, 3]) await abandon(shop.id, total);
  await abandon(other.id, 4);
  expect(await world.user.json('runs', 'list')).toHaveLength(4);
  const table = await world.user.hw(['runs', 'ls', '--source', 'shop']);
  expect(table.stdout).toContain(one);
  expect(table.stdout).not.toContain(other.id);
  expect(await world.user.json('runs', 'list', '--until', '2020-01-01')).toEqual([]);

  expect(await world.user.json('runs', 'retry', one)).toEqual({ count: 1 });
  expect(await world.user.json('runs', 'retry', '--source', 'shop', '--since', '2020-01-01')).toEqual({ count: 2 });
  expect(await world.user.json('runs', 'retry', '--all', '--until', '2020-01-01')).toEqual({ count: 0 });
  const rest = await world.user.hw(['runs', 'retry', '--all']);
  expect(rest).toMatchObject({ code: 0, stdout: expect.stringContaining('1 run is queued again.') });
  await world.hw.untilIdle();
  const events = await world.hw.sql<
    { total: number }[]
  >`select (data::json #>> '{body,total}')::int as total from events`;
  expect(events.map(({ total }) => total).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);

  expect((await world.user.hw(['runs', 'retry'])).code).toBe(2);
  expect((await world.user.hw(['runs', 'retry', one, '--all'])).code).toBe(2);
  expect((await world.user.hw(['runs', 'retry', '--all', '--since', 'tomorrow'])).code).toBe(2);
  expect((await world.user.hw(['runs', 'retry', newId('invocation')])).code).toBe(4);
});

test('runs recent shows runs that no event leads to, with what dedupe dropped', async () => {
  await world.write(
    'deduped.mjs',
    `export default { name: 'Deduped', version: '1', dedupe: 'unique', props: { http: '$.interface.http' },
      run({ body }) { if (body.log) console.log(body.log); else this.$emit(body, { id: 'same' }); } };`,
  );
  const source = await world.user.json('deploy', 'deduped.mjs', '--name', 'deduped');
  for (const body of ['{}', '{}', '{"log":"seen"}']) {
    await world.hw.api('POST', `/sources/${source.id}/run`, { event: { body: JSON.parse(body) as unknown } });
    await world.hw.untilIdle();
  }
  const rows = await world.user.json('runs', 'recent', 'deduped');
  expect(rows).toMatchObject([
    { emitted: 0, deduped: 0, logs: [{ message: 'seen' }] },
    { emitted: 0, deduped: 1, logs: [] },
  ]);
  expect(await world.user.json('runs', 'recent', source.id, '--loud')).toMatchObject([{ id: rows[0].id }]);
  expect(await world.user.json('runs', 'recent', source.id, '-n', '1')).toHaveLength(1);
  const table = await world.user.hw(['runs', 'recent', 'deduped']);
  expect(table.stdout).toContain(rows[1].id);
  expect((await world.user.hw(['runs', 'recent', 'unknown'])).code).toBe(4);
});

test('workflows retry runs failed executions again: those of an error, from the step that failed or the first', async () => {
  const { accountId, sql } = world.hw;
  const steps = [{ namespace: 'only', code: action('if (!$.context.replay) throw new Error("not yet");') }];
  const { id } = await insertWorkflow(sql, { accountId, steps });
  await world.hw.api('POST', `/workflows/${id}/run`, { event: {} });
  await untilExecutions(sql, id, 1, ['failed']);
  expect(await world.user.json('workflows', 'retry', id, '--code', 'RUN_ABANDONED')).toEqual({ count: 0 });
  const done = await world.user.hw(['workflows', 'retry', id, '--code', 'COMPONENT_ERROR', '--newest', '--from-start']);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('1 execution is queued again.') });
  expect(await untilExecutions(sql, id, 2)).toMatchObject([{ status: 'failed' }, { status: 'succeeded' }]);
  expect(await world.user.json('workflows', 'retry', id)).toEqual({ count: 0 });
});
