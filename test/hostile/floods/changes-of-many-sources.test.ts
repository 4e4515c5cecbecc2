// fairness: Dozens of sources of five hundred endpoints each, all given one name at once, and thousands of timers set anew.
import type { TransactionSql } from 'postgres';
import { expect, it } from 'vitest';
import { blockedBy } from '../../support/blocked-backends.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import type { ApiAnswer } from '../../support/server.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();

const SOURCES = longRun(8, 24);
const INTERFACES = 500;
const TIMED_SOURCES = longRun(2, 4);

const code = (props: string) => `const props = {};
  for (let i = 0; i < ${INTERFACES}; i++) props['p' + i] = ${props};
  export default { name: 'Many', version: '1', props, run() {} };`;

async function deployMany(count: number, props: string): Promise<string[]> {
  const { attacker } = world;
  const saved = await attacker.api('POST', '/components', { component_code: code(props) });
  const made = Array.from({ length: count }, () =>
    attacker.api('POST', '/sources', { component_id: saved.body.data.id as string }),
  );
  return (await Promise.all(made)).map(({ body }) => body.data.id as string);
}

async function deleteAll(ids: readonly string[]): Promise<void> {
  const answers = await Promise.all(ids.map((id) => world.attacker.api('DELETE', `/sources/${id}`)));
  expect(answers.filter(({ status }) => status >= 300)).toEqual([]);
}

/**
 * Makes `change` of all of them while the transaction holds what each of them needs, and asks as
 * the neighbour meanwhile.
 */
async function changeAll(
  ids: readonly string[],
  change: Record<string, unknown>,
  hold: (tx: TransactionSql) => Promise<unknown>,
): Promise<ApiAnswer[]> {
  const { changes } = await world.sql.begin(async (tx) => {
    await hold(tx);
    const all = Promise.all(ids.map((id) => world.attacker.api('PUT', `/sources/${id}`, change)));
    await eventually(async () => (await blockedBy(tx)).length > 0);
    for (let n = 0; n < 20; n++) expect((await world.neighbour.api('GET', '/sources')).status).toBe(200);
    expect(await blockedBy(tx)).toHaveLength(1);
    return { changes: all };
  });
  return changes;
}

it('that all get one name wait for their turn, one at the database, and the neighbour is served', async () => {
  const { attacker } = world;
  await world.unharmed(async () => {
    const ids = await deployMany(SOURCES, "'$.interface.http'");
    const answers = await changeAll(
      ids,
      { name: 'x' },
      (tx) => tx`select pg_advisory_xact_lock(hashtextextended(${`${attacker.id} x`}, 0))`,
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(new Set(answers.map(({ body }) => body.data.name_slug as string)).size).toBe(SOURCES);
    await deleteAll(ids);
  });
});

it('whose thousands of timers are set anew do so too', async () => {
  const { attacker, sql } = world;
  await world.unharmed(async () => {
    const ids = await deployMany(TIMED_SOURCES, "{ type: '$.interface.timer', default: { intervalSeconds: 3600 } }");
    for (const intervalSeconds of [3601, 3602]) {
      const timers = Array.from({ length: INTERFACES }, (_, n) => [`p${n}`, { intervalSeconds }] as const);
      const answers = await changeAll(
        ids,
        { configured_props: Object.fromEntries(timers) },
        (tx) => tx`select from timers where account_id = ${attacker.id} for update`,
      );
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      const set = await sql`
        select from timers where account_id = ${attacker.id} and interval_seconds = ${intervalSeconds}`;
      expect(set).toHaveLength(TIMED_SOURCES * INTERFACES);
    }
    await deleteAll(ids);
  });
});
