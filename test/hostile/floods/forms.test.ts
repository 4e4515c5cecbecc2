import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { hostile } from '../../support/hostile.ts';

// limits: A kilobyte of code whose five hundred props have names of two thousand characters, and
// thirteen mistakes each.
describe('definitions-with-thousands-of-mistakes', () => {
  const world = hostile({ ownAccounts: true });

  const CODE = `const wrong = { type: 'integer', label: 1, description: 1, optional: 1, secret: 1, customResponse: 1, useQuery: 1,
  reloadProps: 1, withLabel: 1, hidden: 1, disabled: 1, min: 'a', max: 'b', options: 3 };
const [props, hooks] = [{}, {}];
for (let i = 0; i < 450; i++) props['n'.repeat(1900) + i] = hooks['h'.repeat(10) + i] = wrong;
export default { name: 'Wrong', version: '1', props, hooks, run() {} };`;

  it('the first hundred are told, and not megabytes', async () => {
    const answers = await world.unharmed(() =>
      Promise.all(
        Array.from({ length: 10 }, () => world.attacker.api('POST', '/components', { component_code: CODE })),
      ),
    );
    for (const { status, body, text } of answers) {
      expect(status).toBe(400);
      expect(body.errors).toHaveLength(100);
      expect(text.length).toBeLessThan(100_000);
    }
  });
});

// database: Asking for dynamic props again and again, each time as large as they may be.
describe('dynamic-props', () => {
  const world = hostile({ ownAccounts: true });

  const LARGE = `export default { name: 'Large', version: '1',
  additionalProps() { return Object.fromEntries(Array.from({ length: 50 }, (_, i) => ['p' + i, { type: 'string', description: 'x'.repeat(4_500) }])); },
  run() {} };`;
  const TOO_LARGE = LARGE.replace('4_500', '9_000');

  it('only the newest are kept, and too large ones are refused', async () => {
    const { attacker, sql } = world;
    const { id } = (await attacker.api('POST', '/components', { component_code: LARGE })).body.data as { id: string };
    const other = (await attacker.api('POST', '/components', { component_code: TOO_LARGE })).body.data as {
      id: string;
    };
    await world.unharmed(async () => {
      expect((await attacker.api('POST', `/components/${other.id}/props`, {})).status).toBe(422);
      // As many as are kept, from before.
      await sql`
        insert into dynamic_props (id, account_id, component_id, definitions, created_at, expires_at)
        select ${id} || n, ${attacker.id}, ${id}, '[]', now() - interval '1 hour', now() + interval '1 hour'
        from generate_series(1, ${LIMITS.maxDynamicPropsPerAccount}::int4) n on conflict do nothing`;
      for (let i = 0; i < 3; i++) {
        const made = await Promise.all(
          Array.from({ length: 10 }, () => attacker.api('POST', `/components/${id}/props`, {})),
        );
        for (const { status } of made) expect(status).toBe(200);
      }
    });
    // Those that are inserted at the same moment do not see each other.
    const [row] = await sql`select count(*)::int as count from dynamic_props where account_id = ${attacker.id}`;
    expect(row?.['count']).toBeLessThanOrEqual(LIMITS.maxDynamicPropsPerAccount + 10);
  });
});

// limits: Answers of `options` whose context is hundreds of thousands of empty lists: a quarter of
// a second to read each.
describe('options-of-empty-lists', () => {
  const world = hostile({ ownAccounts: true });
  const ASKED = 8;

  const CODE = `export default { name: 'Lists', version: '1', props: { x: { type: 'string', options() {
  return { options: [], context: Array.from({ length: 340_000 }, () => []) }; } } }, run() {} };`;

  it('are refused unread', async () => {
    const { attacker } = world;
    const { body } = await attacker.api('POST', '/components', { component_code: CODE });
    await world.unharmed(async () => {
      const answers = await Promise.all(
        Array.from({ length: ASKED }, () =>
          attacker.api('POST', `/components/${body.data.id}/configure`, { prop_name: 'x', configured_props: {} }),
        ),
      );
      for (const { text } of answers) expect(text).toContain("The options of 'x' could not be read");
    });
  });
});

// fairness: Dozens of requests at once for choices that take all the time there is.
describe('prop-forms', () => {
  const world = hostile({ ownAccounts: true });

  const SLOW = `export default { name: 'Slow', version: '1',
  props: { spin: { type: 'string', async options() { for (;;); } }, wait: { type: 'string', async options() { await new Promise(() => {}); } } },
  additionalProps() { for (;;); }, run() {} };`;

  it('a few of them run at a time, each to its limit, and all are answered', async () => {
    const { attacker } = world;
    await world.limit({ runCpuMs: 100, hookWallMs: 1_000 });
    const { id } = (await attacker.api('POST', '/components', { component_code: SLOW })).body.data as { id: string };
    const answers = await world.unharmed(() =>
      Promise.all(
        Array.from({ length: 36 }, (_, i) =>
          i % 3 === 2
            ? attacker.api('POST', `/components/${id}/props`, {})
            : attacker.api('POST', `/components/${id}/configure`, { prop_name: i % 3 === 0 ? 'spin' : 'wait' }),
        ),
      ),
    );
    const limits = answers.map(({ status, body }) => (status === 429 ? 'turns' : body.limit.name) as string);
    expect(['turns', 'runCpuMs', 'hookWallMs']).toEqual(expect.arrayContaining([...new Set(limits)]));
    expect(answers.map(({ status }) => status)).toContain(422);
  });
});
