// fairness: Dozens of requests at once for choices that take all the time there is.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

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
