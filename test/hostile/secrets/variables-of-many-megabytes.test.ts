// secrets: A step that names variables of more than a megabyte, run by many executions at once: each reads, opens and looks for all of it.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const ODD = `abc/\\"'‹&é+ %ü`;
const names = Array.from({ length: 24 }, (_, i) => `A${i}`);
const EXECUTIONS = 32;

it('ends before anything is read, with the limit, and smaller ones are taken out of what it puts out', async () => {
  const { attacker } = world;
  for (const [i, name] of names.entries()) {
    const value = Array.from({ length: 2_400 }, (_, line) => `${line}_${i} ${ODD}`).join('\n');
    expect((await attacker.api('PUT', `/environment_variables/${name}`, { value })).status).toBe(200);
  }
  const step = (...variables: string[]) => ({
    namespace: 'step',
    component_code: `export default { name: 'Reads', version: '1', type: 'action', props: { list: { type: 'any' } },
      run() { return this.list[0].slice(0, 30); } };`,
    props: { list: `{{[${variables.map((name) => `env.${name}`).join()}]}}` },
  });
  const workflow = async (...variables: string[]) => {
    const made = await attacker.api('POST', '/workflows', { triggers: [], steps: [step(...variables)] });
    expect([made.status, made.text]).toEqual([200, expect.any(String)]);
    return made.body.data.id as string;
  };
  const ended = (id: string, count: number) =>
    eventually(
      async () => {
        const rows = await world.sql<{ error: string | null }[]>`
          select error from executions where workflow_id = ${id} and status in ('succeeded', 'failed')`;
        return rows.length === count ? rows : undefined;
      },
      { timeoutMs: 60_000, what: `the end of ${count} executions` },
    );
  const [all, one] = await world.unharmed(async () => {
    const [many, single] = [await workflow(...names), await workflow('A0')];
    const run = (id: string) => attacker.api('POST', `/workflows/${id}/run`, { event: {} });
    await Promise.all(Array.from({ length: EXECUTIONS }, () => run(many)));
    await run(single);
    return [await ended(many, EXECUTIONS), { id: single, rows: await ended(single, 1) }] as const;
  });
  for (const { error } of all) {
    expect(JSON.parse(error ?? '{}')).toMatchObject({
      code: 'RESOURCE_LIMIT',
      message: expect.stringMatching(/have \d{7} bytes together; the limit maxRunSecretBytes is 262144 bytes$/),
    });
  }
  expect(one.rows[0]?.error).toBeNull();
  const [shown] = await world.sql<{ value: string }[]>`
    select s.value from execution_steps s join executions e on e.id = s.execution_id where e.workflow_id = ${one.id}`;
  expect(shown?.value).toContain('[secret:env.A0]');
});
