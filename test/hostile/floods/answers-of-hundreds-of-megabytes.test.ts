// limits: Lists of runs that logged megabytes each, and of sources that have megabytes of props each.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const QUIET = `export default { name: 'Quiet', version: '1', props: { text: { type: 'string', optional: true } }, run() {} };`;
const MAX_ANSWER = 20 * 1024 * 1024;

it('an answer has so much of it, and says what it leaves out', async () => {
  const { attacker, sql } = world;
  const { id: source } = await attacker.deploy(QUIET);
  const logs = JSON.stringify(
    Array.from({ length: 600 }, () => ({ at: 1, level: 'info', message: 'x'.repeat(5_000) })),
  );
  await sql`
    insert into runs (id, account_id, source_id, kind, status, logs, started_at, ended_at, recorded_ms, recorded_seq)
    select ${source} || n, ${attacker.id}, ${source}, 'manual', 'ok', ${logs}, now(), now(), n, 0 from generate_series(1, 40) n`;
  await sql`
    update sources set configured_props = jsonb_build_object('text', repeat('x', 3000000)) where id = ${source}`;
  for (let n = 0; n < 3; n++) {
    const { id } = await attacker.deploy(QUIET);
    await sql`update sources set configured_props = jsonb_build_object('text', repeat('x', 3000000)) where id = ${id}`;
  }
  await world.unharmed(async () => {
    const runs = await attacker.api('GET', `/sources/${source}/runs?limit=100`);
    expect(runs.text.length).toBeLessThan(MAX_ANSWER);
    const [newest, ...others] = runs.body.data as { logs: unknown[]; truncated?: string[] }[];
    expect([newest?.logs.length, newest?.truncated]).toEqual([600, undefined]);
    expect(others.map(({ logs: lines, truncated }) => [lines.length, truncated])).toEqual(
      Array.from({ length: 39 }, () => [0, ['logs']]),
    );
    const listed: string[] = [];
    for (let after = ''; ; ) {
      const page = await attacker.api('GET', `/sources?limit=100&after=${after}`);
      expect(page.text.length).toBeLessThan(MAX_ANSWER / 2);
      if (page.body.data.length === 0) break;
      listed.push(...(page.body.data as { id: string }[]).map(({ id }) => id));
      after = page.body.page_info.end_cursor as string;
    }
    expect(new Set(listed).size).toBe(4);
    expect(listed).toHaveLength(4);
    const [last] = (await attacker.api('GET', `/sources?limit=1`)).body.data as { id: string }[];
    expect(last?.id).toBe(listed[0]);
  });
});
