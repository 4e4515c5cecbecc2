import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let headwater: Headwater;
beforeAll(async () => {
  headwater = await sharedHeadwater();
});
afterAll(() => headwater.stop());

const SOURCE = `export default { name: 'Orders', version: '1.0.0', async run(event) {
  if (event.fails) throw new Error(event.fails);
  if (event.order) this.$emit(event);
} };`;

test('a source tells when it emitted last, and when it failed last and why', async () => {
  const before = Math.floor(Date.now() / 1000);
  const { id } = await headwater.deploy(SOURCE);
  const run = (event: unknown) => headwater.api('POST', `/sources/${id}/run`, { event });
  const read = async () => (await headwater.api('GET', `/sources/${id}`)).data;
  expect(await read()).toMatchObject({ last_event_at: null, last_error: null });
  await run({ order: 1 });
  await run({ fails: 'no stock' });
  await run({ fails: `closed ${'x'.repeat(2_000)}` });
  await run({});
  await headwater.untilIdle();
  const { last_event_at: eventAt, last_error: error } = await read();
  expect(eventAt).toBeGreaterThanOrEqual(before);
  // The last failure, in any order of storage.
  expect(error.at).toBeGreaterThanOrEqual(before);
  expect(error.message).toMatch(/^(no stock|closed x+)$/);
  expect(error.message.length).toBeLessThanOrEqual(300);
  const { data } = await headwater.api('GET', '/users/me/sources');
  expect(data).toMatchObject([{ id, last_event_at: eventAt, last_error: error }]);
});

test('a failure is told also where its record is gone, and the channel of errors is no event of a source', async () => {
  const { id } = await headwater.deploy(SOURCE);
  await headwater.api('POST', `/sources/${id}/run`, { event: { fails: 'no stock' } });
  await headwater.untilIdle();
  await headwater.sql`delete from runs where source_id = ${id}`;
  const { data } = await headwater.api('GET', `/sources/${id}`);
  expect(data).toMatchObject({ last_event_at: null, last_error: { message: null } });
});
