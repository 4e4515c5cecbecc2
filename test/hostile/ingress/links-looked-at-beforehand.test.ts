// ingress: Links that work once, opened by browsers and programs before anybody follows them: HEAD, prefetches, previews.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { beginFlow, comeBack, evilProvider } from '../../support/hostile-oauth.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();
const provider = evilProvider(world);

const LOOKS = [
  { method: 'HEAD' },
  { method: 'HEAD', headers: { accept: 'text/html' } },
  { headers: { 'sec-purpose': 'prefetch' } },
  { headers: { 'sec-purpose': 'prefetch;prerender', accept: 'text/html' } },
  { headers: { purpose: 'prefetch' } },
  { headers: { 'x-purpose': 'preview' } },
  { headers: { 'x-moz': 'prefetch' } },
];

async function look(url: string): Promise<void> {
  for (const init of LOOKS) {
    const answer = await fetch(url, init);
    const isHead = init.method === 'HEAD';
    expect([answer.status, await answer.text()]).toEqual([isHead ? 204 : 503, '']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }
}

it('the execution waits on, the flow too, and each link then works for whoever follows it', async () => {
  const { attacker, sql } = world;
  await world.unharmed(async () => {
    const { id, endpoint } = await makeWorkflow(attacker, {
      steps: ['$.export("links", $.flow.suspend()); return 1;', 'return 2;'],
    });
    await fetch(endpoint, { method: 'POST', body: '{}' });
    const links = await eventually(async () => {
      const [row] = await sql<{ exports: string }[]>`
        select s.exports from execution_waits w join execution_steps s using (execution_id, position)
        where w.workflow_id = ${id}`;
      return row && (JSON.parse(row.exports) as { links: { resume_url: string; cancel_url: string } }).links;
    });
    await look(links.cancel_url);
    await look(links.resume_url);
    expect((await fetch(links.resume_url)).status).toBe(200);

    const { state } = await beginFlow(attacker, provider.slug);
    await look(`${world.server.url}/oauth/callback?code=a-code&state=${state}`);
    expect((await comeBack(world, { state, code: 'a-code' })).status).toBe(200);
  });
});
