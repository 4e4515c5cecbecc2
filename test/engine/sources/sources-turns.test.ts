import type postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

/*
 * Changes of many sources of one account at the same time. What all of them need in the database is
 * locked meanwhile, so that it is seen how many of the node's connections wait for it.
 */

const SOURCES = 8;
const NAME = 'Renamed';

const CODE = `export default { name: 'One of many', version: '1', props: {
  http: '$.interface.http',
  timer: { type: '$.interface.timer', default: { intervalSeconds: 3600 } },
  text: { type: 'string', default: 'short' },
}, run() {} };`;

let node: Headwater;
let ids: string[];

beforeAll(async () => {
  node = await sharedHeadwater();
  const { status, data, text } = await node.api('POST', '/components', { component_code: CODE });
  if (status !== 200) throw new Error(text);
  ids = [];
  while (ids.length < SOURCES) ids.push((await node.api('POST', '/sources', { component_id: data.id })).data.id);
});
afterAll(() => node.stop());

/**
 * Resolves with how many connections wait for the transaction once all of them do that are going
 * to.
 */
async function countWaiting(tx: postgres.TransactionSql): Promise<number> {
  await eventually(async () => (await blockedBy(tx)).length > 0);
  // Some come later than the first has begun to wait. When these requests are answered, the earlier
  // ones have progressed as far as they can, with a lease of their source or none yet.
  for (let n = 0; n < 20; n++) expect((await node.api('GET', '/users/me')).status).toBe(200);
  return (await blockedBy(tx)).length;
}

const put = (change: Record<string, unknown>) => () =>
  Promise.all(ids.map((id) => node.api('PUT', `/sources/${id}`, change)));

type Lock = (tx: postgres.TransactionSql) => Promise<unknown>;

it.each<[string, Lock, () => Promise<{ status: number; text: string }[]>]>([
  [
    'get one name',
    (tx) => tx`select pg_advisory_xact_lock(hashtextextended(${`${node.accountId} ${NAME.toLowerCase()}`}, 0))`,
    put({ name: NAME }),
  ],
  [
    'grow',
    (tx) => tx`select from accounts where id = ${node.accountId} for no key update`,
    put({ configured_props: { text: 'longer than it was'.repeat(10) } }),
  ],
  [
    'get other timers',
    (tx) => tx`select from timers where account_id = ${node.accountId} for update`,
    put({ configured_props: { timer: { intervalSeconds: 7200 } } }),
  ],
  [
    'are deleted',
    (tx) => tx`select from endpoints where account_id = ${node.accountId} for update`,
    () => Promise.all(ids.map((id) => node.api('DELETE', `/sources/${id}`))),
  ],
])('sources of an account that %s at the same time use one connection', async (_, lock, change) => {
  const { changes } = await node.sql.begin(async (tx) => {
    await lock(tx);
    const all = change();
    expect(await countWaiting(tx)).toBe(1);
    return { changes: all };
  });
  for (const { status, text } of await changes) expect([status, text]).toEqual([expect.toBeOneOf([200, 204]), text]);
});

it('those that wait for their turn have no lease of their source meanwhile', async () => {
  const count = LIMITS.sourceChangesAtOnce + 4;
  const made = Array.from({ length: count }, () => node.api('POST', '/sources', { component_code: CODE }));
  const sources = (await Promise.all(made)).map(({ data }) => data.id as string);
  const busy = (tx: postgres.Sql | postgres.TransactionSql) => tx`
    select from sources where id = any(${sources}::text[]) and busy_until is not null`;
  const { changes } = await node.sql.begin(async (tx) => {
    await tx`select from accounts where id = ${node.accountId} for no key update`;
    const all = Promise.all(
      sources.map((id) => node.api('PUT', `/sources/${id}`, { configured_props: { text: 'x'.repeat(100) } })),
    );
    await eventually(async () => (await blockedBy(tx)).length > 0);
    for (let n = 0; n < 20; n++) expect((await node.api('GET', '/users/me')).status).toBe(200);
    expect((await busy(tx)).length).toBeLessThanOrEqual(LIMITS.sourceChangesAtOnce);
    return { changes: all };
  });
  for (const { status, text } of await changes) expect([status, text]).toEqual([200, text]);
  expect(await busy(node.sql)).toHaveLength(0);
});
