import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { beginFlow, comeBack, evilProvider } from '../../support/hostile-oauth.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

// ingress: /healthz, which needs no key, waits for no turn and asks the database, asked for by
// hundreds at once, again and again.
describe('health-check-flood', () => {
  const world = hostile();
  const CLIENTS = 100;
  const TIMES = 20;

  it('each is told that the server is well, and the neighbour is served', async () => {
    const { server } = world;
    await world.unharmed(async () => {
      const ask = async () => {
        for (let time = 0; time < TIMES; time++) expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
      };
      await Promise.all(Array.from({ length: CLIENTS }, ask));
    });
  });
});

// ingress: /metrics, which needs no key and takes the thread some tens of milliseconds, asked for
// hundreds of times at once.
describe('metrics-flood', () => {
  const world = hostile();

  it('requests at the same time share one text, and the next text is not made at once', async () => {
    const { server } = world;
    await useEveryRoute(server.url);
    await world.unharmed(async () => {
      const texts = await Promise.all(
        Array.from({ length: longRun(60, 200) }, async () => {
          const answer = await fetch(`${server.url}/metrics`, { headers: { 'accept-encoding': 'identity' } });
          expect(answer.status).toBe(200);
          return answer.text();
        }),
      );
      // Each text that was made for itself differs in the processor time that it says.
      expect(new Set(texts).size).toBeLessThan(20);
    });
  });

  /**
   * A server that has been used for long has figures of all its routes: a text of hundreds of
   * kilobytes.
   */
  async function useEveryRoute(url: string): Promise<void> {
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
    const asked = Object.entries(paths).map(async ([path, methods]) => {
      for (const method of Object.keys(methods)) {
        const answer = await fetch(url + path.replaceAll(/\{\w+\}/g, 'x'), { method: method.toUpperCase() });
        await answer.arrayBuffer();
      }
    });
    await Promise.all(asked);
    expect((await (await fetch(`${url}/metrics`)).text()).length).toBeGreaterThan(100_000);
  }
});

// ingress: Hundreds of requests at once with API keys that are none, each of which has to be
// looked up, and to paths that are none.
describe('made-up-keys', () => {
  const world = hostile();
  const REQUESTS = 300;

  it('are refused, and delay no other tenant', async () => {
    const ask = (path: string) =>
      Array.from({ length: REQUESTS }, async (_, nth) => {
        const headers = { authorization: `Bearer hw_${crypto.randomUUID()}_${nth}` };
        return (await fetch(`${world.server.url}${path}`, { headers })).status;
      });
    await world.unharmed(async () => {
      const all = Promise.all([...ask('/v1/users/me'), ...ask('/nothing')]);
      expect((await world.neighbour.api('GET', '/users/me')).status).toBe(200);
      expect(new Set(await all)).toEqual(new Set([401, 404]));
    });
  });
});

// ingress: Hundreds of made-up links of executions and OAuth flows at once, which need no key.
describe('made-up-links', () => {
  const world = hostile();
  const REQUESTS = 300;
  const PATHS = [
    (id: string) => `/resume/ex_${id}/1-1-${'x'.repeat(32)}`,
    (id: string) => `/cancel/ex_${id}/1-1-${'x'.repeat(32)}`,
    (state: string) => `/oauth/callback?code=1&state=${state}`,
    () => `/resume/%00/1-1-${'x'.repeat(32)}`,
    () => `/cancel/%00/1-1-${'x'.repeat(32)}`,
  ];

  it('are not valid links, and delay no other tenant', async () => {
    const ask = async (path: string) => (await fetch(world.server.url + path)).status;
    await world.unharmed(async () => {
      const all = Array.from({ length: REQUESTS }, (_, nth) => {
        const random = randomBytes(32).toString('base64url');
        return ask(PATHS[nth % PATHS.length]?.(random) ?? '');
      });
      expect((await world.neighbour.api('GET', '/users/me')).status).toBe(200);
      for (const status of await Promise.all(all)) expect([400, 404]).toContain(status);
    });
  });
});

// ingress: Links that work once, opened by browsers and programs before anybody follows them:
// HEAD, prefetches, previews.
describe('links-looked-at-beforehand', () => {
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

  it('the execution and the flow go on waiting, and each link still works afterwards', async () => {
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
});

// ingress: Resuming an execution with a body that is too large, nested too deep, or no JSON, and
// many times at once.
describe('resuming-with-too-much', () => {
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
});
