// ingress: Resuming an execution with a body that is too large, nested too deep, or no JSON, and many times at once.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();
/** Type of each body's data in the next step. */
const TYPES = ['object', 'string', 'string', 'object'];

it('is refused, or is data of the one that it resumes, once', async () => {
  const { attacker, sql } = world;
  const { id, endpoint } = await makeWorkflow(attacker, {
    steps: ['$.export("links", $.flow.suspend()); return 1;', 'return typeof steps.step0.$resume_data;'],
  });
  let rounds = 0;
  await world.unharmed(async () => {
    rounds++;
    for (const body of [
      '['.repeat(200_000) + ']'.repeat(200_000),
      '{"a":'.repeat(90_000),
      '\u0000"',
      '{"__proto__":{"x":1}}',
    ]) {
      const answers = await resume(endpoint, id, body);
      expect(answers.filter((status) => status === 200)).toHaveLength(1);
      expect(answers.filter((status) => status === 404)).toHaveLength(9);
    }
    expect(await resume(endpoint, id, 'x'.repeat(600_000))).toEqual(Array.from({ length: 10 }, () => 413));
  });
  const ends = await eventually(async () => {
    const rows = await sql<{ status: string; value: string }[]>`
      select e.status, s.value from executions e join execution_steps s on s.execution_id = e.id and s.position = 1
      where e.workflow_id = ${id} and e.ended_at is not null order by e.id`;
    return rows.length === TYPES.length * rounds && rows;
  });
  const types = Array.from({ length: rounds }, () => TYPES).flat();
  expect(ends).toEqual(types.map((type) => ({ status: 'succeeded', value: `"${type}"` })));
});

/** Ten times the same. */
async function resume(endpoint: string, workflowId: string, body: string): Promise<number[]> {
  await fetch(endpoint, { method: 'POST', body: '{}' });
  const url = await eventually(async () => {
    const [row] = await world.sql<{ exports: string }[]>`
      select s.exports from execution_waits w join execution_steps s using (execution_id, position)
      where w.workflow_id = ${workflowId} and w.resume_data is null and w.wake_at > now()`;
    return row && (JSON.parse(row.exports) as { links: { resume_url: string } }).links.resume_url;
  });
  return Promise.all(Array.from({ length: 10 }, async () => (await fetch(url, { method: 'POST', body })).status));
}
