import { setTimeout as sleep } from 'node:timers/promises';
import type { TransactionSql } from 'postgres';
import { describe, expect, it } from 'vitest';
import { LIMITS, newId } from '../../../shared/src/index.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { eventually } from '../../support/eventually.ts';
import { longestPauseMs } from '../../support/hostile-ticks.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';
import type { ApiAnswer } from '../../support/server.ts';

// fairness: Sixty writes to a data store that is being emptied: each would keep one of the node's
// few connections waiting.
describe('writes-behind-one-lock', () => {
  const world = hostile({ ownAccounts: true });

  it('two wait at the database, the others for their turn, and the neighbour is served meanwhile', async () => {
    const { attacker, neighbour, sql } = world;
    const store = (await attacker.api('POST', '/data_stores', { name: 'Held' })).body.data.id as string;
    const write = (n: number) => attacker.api('PUT', `/data_stores/${store}/record`, { key: `k${n}`, value: n });
    await world.unharmed(async () => {
      let writes: Promise<{ status: number }>[] = [];
      await sql.begin(async (tx) => {
        // Simulates the lock of a deletion of a hundred thousand records.
        await tx`select from data_stores where id = ${store} for update`;
        writes = Array.from({ length: 60 }, (_, n) => write(n));
        for (let n = 0; n < 5; n++) expect((await neighbour.api('GET', '/sources')).status).toBe(200);
      });
      expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(writes.map(() => 200));
    });
  });
});

// fairness: A source with a timer and a hundred thousand stored values that is deleted, for as
// long as that takes, while runs of it end.
describe('deletion-of-a-full-store', () => {
  const world = hostile({ ownAccounts: true });

  const CODE = `export default { name: 'Full', version: '1', props: { db: '$.service.db', http: '$.interface.http',
  timer: { type: '$.interface.timer', default: { intervalSeconds: 1 } } },
  async run({ ms = 0 }) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.db.set('key 0', ms);
  } };`;
  const VALUES = longRun(20_000, 100_000);
  const HELD_MS = 3_000;
  /** When runs end that are under way as the deletion begins. */
  const ENDS_MS = [500, 750, 1_000, 1_250, 1_500];
  const SOON_MS = 2_500;

  async function deployFull(): Promise<string> {
    const { id } = await world.attacker.deploy(CODE);
    await world.sql`
    insert into component_db (source_id, key, account_id, value)
    select ${id}, 'key ' || n, ${world.attacker.id}, '1' from generate_series(0, ${VALUES}::int4 - 1) as n
    on conflict do nothing`;
    return id;
  }

  async function valuesOf(id: string): Promise<number> {
    const [row] = await world.sql<{ count: number }[]>`
    select count(*)::int4 as count from component_db where source_id = ${id}`;
    return row?.count ?? 0;
  }

  it("does not delay the neighbour's ticks and commits, and all rows without a holder are deleted", async () => {
    const { attacker, sql } = world;
    const id = await deployFull();
    await world.unharmed(async () => {
      const pauseMs = await longestPauseMs(world, async () => {
        const { deletion } = await sql.begin(async (tx) => {
          // One that takes this long.
          await tx`select from component_db where source_id = ${id} and key = 'key 1' for update`;
          for (const ms of ENDS_MS) await attacker.api('POST', `/sources/${id}/run`, { event: { ms } });
          const begun = attacker.api('DELETE', `/sources/${id}`);
          await sleep(HELD_MS);
          return { deletion: begun };
        });
        expect((await deletion).status).toBe(204);
      });
      expect(pauseMs).toBeLessThan(SOON_MS);
    });
    // Retention deletes the locked rows later.
    expect(await valuesOf(id)).toBeLessThanOrEqual(1);
  });
});

// fairness: Sixteen sources for which invocations wait, deleted at once: their deletions would
// have all connections of the node.
describe('deletions-of-busy-sources', () => {
  const world = hostile({ ownAccounts: true });

  const CODE = `export default { name: 'Busy', version: '1', run() {} };`;
  const SOURCES = LIMITS.sourceChangesAtOnce;
  /** For longer than it takes all of them to begin. */
  const REQUESTS = 20;
  const EVERY_MS = 50;

  /** Inactive sources, so that waiting invocations are not run. */
  async function makeSources(): Promise<string[]> {
    const { attacker, sql } = world;
    const ids: string[] = [];
    for (let n = 0; n < SOURCES; n++) {
      const { id } = await attacker.deploy(CODE);
      expect((await attacker.api('PUT', `/sources/${id}`, { active: false })).status).toBe(200);
      ids.push(id);
    }
    await sql`
    insert into invocations (id, account_id, source_id, kind, event)
    select made.id, ${attacker.id}, made.source, 'http', '{}'
    from unnest(${ids.map(() => newId('invocation'))}::text[], ${ids}::text[]) as made(id, source)`;
    return ids;
  }

  it('follow each other, and the neighbour is served meanwhile', async () => {
    const { attacker, neighbour, sql } = world;
    await world.limit({ maxRequestsPerSecond: 0 });
    const ids = await makeSources();
    const deletions = await world.unharmed(() =>
      sql.begin(async (tx) => {
        // Simulates rows so many that each piece takes long.
        await tx`select from invocations where source_id = any(${ids}::text[]) for update`;
        const begun = ids.map((id) => attacker.api('DELETE', `/sources/${id}`));
        await eventually(async () => (await blockedBy(tx)).length > 0);
        for (let asked = 0; asked < REQUESTS; asked++) {
          expect((await neighbour.api('GET', '/sources')).status).toBe(200);
          await sleep(EVERY_MS);
          expect(await blockedBy(tx)).toHaveLength(1);
        }
        return { begun };
      }),
    );
    expect((await Promise.all(deletions.begun)).map(({ status }) => status)).toEqual(ids.map(() => 204));
    expect(await sql`select from invocations where source_id = any(${ids}::text[])`).toHaveLength(0);
  });
});

// fairness: Dozens of sources of five hundred endpoints each, all given one name at once, and
// thousands of timers set anew.
describe('changes-of-many-sources', () => {
  const world = hostile({ ownAccounts: true });

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

  it('renamed together wait for their turn, one at the database, and the neighbour is served', async () => {
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

  it('with thousands of timers set anew wait in the same way', async () => {
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
});
