import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw.stop());

/** Simulates a failover: new connections find a server that is read-only, or one that is not. */
async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  await hw.sql.begin(async (tx) => {
    await tx`set transaction read write`;
    const [row] = await tx<{ name: string }[]>`select current_database() as name`;
    await tx`alter database ${tx(row?.name ?? '')} set default_transaction_read_only = ${tx.unsafe(value)}`;
  });
  await hw.sql`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
}

test('while the database is read-only requests are refused, and accepted ones are not lost', async () => {
  const code = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, async run(event) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    this.$emit(event.body);
  } };`;
  const { id, endpoint } = await hw.deploy(code);
  const post = async (body: number) => (await fetch(endpoint, { method: 'POST', body: String(body) })).status;
  const health = async () => (await fetch(`${hw.url}/healthz`)).status;
  expect(await Promise.all([1, 2, 3].map(post))).toEqual([200, 200, 200]);

  await setReadOnly('on');
  await eventually(async () => (await health()) === 503);
  expect(await post(4)).toBe(503);
  expect(await hw.api('POST', `/sources/${id}/run`, {})).toMatchObject({
    status: 503,
    text: expect.stringContaining('urn:headwater:error:database-away'),
  });
  expect((await hw.api('GET', `/sources/${id}`)).status).toBe(200);

  await setReadOnly('off');
  await eventually(async () => (await health()) === 200);
  expect(await post(5)).toBe(200);
  const events = await hw.untilEvents(id, 4);
  expect(events.map(({ event }) => Number(event)).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 5]);
});
