// tenancy: Resuming, cancelling and replaying the neighbour's execution with the attacker's own links and key.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { comparable } from '../../support/hostile-tenancy.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();

const WAITS = { steps: ['$.export("links", $.flow.suspend()); return 1;', 'return 2;'] };

/** An execution that waits, and the path of its link. */
async function waiting(workflow: { id: string; endpoint: string }) {
  await fetch(workflow.endpoint, { method: 'POST', body: '{}' });
  return eventually(async () => {
    const [row] = await world.sql<{ id: string; exports: string }[]>`
      select w.execution_id as id, s.exports from execution_waits w join execution_steps s using (execution_id, position)
      where w.workflow_id = ${workflow.id}`;
    if (row === undefined) return undefined;
    const { links } = JSON.parse(row.exports) as { links: { resume_url: string } };
    return { id: row.id, token: new URL(links.resume_url).pathname.split('/').at(-1) ?? '' };
  });
}

it('is answered as if there were none, and the execution waits on', async () => {
  const { attacker, neighbour, server, sql } = world;
  const theirs = await waiting(await makeWorkflow(neighbour, WAITS));
  const own = await waiting(await makeWorkflow(attacker, WAITS));
  const unknown = `${theirs.id.slice(0, -6)}zzzzzz`;
  await world.unharmed(async () => {
    const tokens = [
      own.token,
      own.token.toUpperCase(),
      `${own.token}x`,
      '0-1-',
      '9999-999999-' + 'A'.repeat(32),
      '..%2f..',
      '%00',
    ];
    for (const token of tokens) {
      for (const action of ['resume', 'cancel']) {
        const ask = async (id: string) => {
          const answer = await fetch(`${server.url}/${action}/${id}/${token}`, { method: 'POST', body: '"taken"' });
          return comparable({ status: answer.status, text: await answer.text() }, id);
        };
        expect([action, token, await ask(theirs.id)]).toEqual([action, token, await ask(unknown)]);
      }
    }
    for (const action of ['cancel', 'replay']) {
      const ask = async (id: string) => comparable(await attacker.api('POST', `/executions/${id}/${action}`, {}), id);
      const foreign = await ask(theirs.id);
      expect(foreign).toMatchObject({ status: 404 });
      expect(foreign).toEqual(await ask(unknown));
    }
  });
  const rows = await sql`select resume_data from execution_waits where execution_id = ${theirs.id} and wake_at > now()`;
  expect(rows).toEqual([{ resume_data: null }]);
});
