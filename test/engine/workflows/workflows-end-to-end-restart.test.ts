import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { longRun } from '../../support/long-run.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { post, startServer, subscribe, type TestServer } from '../../support/server.ts';
import { makeDataDir } from '../../support/run-folder.ts';

// A node that was killed is found to be dead after some ten seconds.
const EXECUTIONS = 12;
const STEPS = ['one', 'two', 'three', 'four'];

/** As a user runs it on one machine. */
const dataDir = makeDataDir();
let server: TestServer;
let outside: Receiver;

beforeAll(async () => {
  [server, outside] = [await startServer({ dataDir }), await startReceiver()];
});
afterAll(async () => {
  await server?.stop();
  await outside?.stop();
});

async function restart(how: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  await server.process.end(how);
  server = await startServer({ dataDir });
}

interface Made {
  id: string;
  /** Path of the HTTP trigger. It stays valid when the server gets another port. */
  path: string;
}

async function make(steps: { namespace: string; component_code: string }[]): Promise<Made> {
  const { status, body, text } = await server.api('POST', '/workflows', { triggers: [{ type: 'http' }], steps });
  if (status !== 200) throw new Error(text);
  return { id: body.data.id, path: new URL(body.data.triggers[0].endpoint_url as string).pathname };
}

interface Shown {
  id: string;
  status: string;
  trigger: { event: { body: { n: number } } };
}

const executionsOf = async ({ id }: Made): Promise<Shown[]> =>
  (await server.api('GET', `/workflows/${id}/executions?limit=100`)).body.data;
const execution = async (id: string) => (await server.api('GET', `/executions/${id}`)).body.data;
const untilEnded = (flow: Made, count: number) =>
  eventually(
    async () => {
      const ended = (await executionsOf(flow)).filter(
        ({ status }) => !['queued', 'running', 'waiting'].includes(status),
      );
      return ended.length === count && ended;
    },
    { timeoutMs: 60_000, what: `the end of ${count} executions` },
  );
const asked = (path: string) => outside.requests.filter(({ url }) => url === path).length;

describe('kill -9 of a server with a Postgres of its own, and a start on its folder', () => {
  test('in the midst of executions: none is lost, no completed step runs again, each emits once', async () => {
    const flow = await make(
      STEPS.map((namespace) => ({
        namespace,
        component_code: action(`const { n } = steps.trigger.event.body;
          $.send.emit({ n, step: '${namespace}' });
          return (await fetch('${outside.url}/${namespace}/' + n)).status;`),
      })),
    );
    await subscribe(server, flow.id, `${outside.url}/hook`);
    // Each is held at another step.
    outside.answer = ({ url }) => {
      const [, step = '', n = ''] = url.split('/');
      return STEPS.indexOf(step) === Number(n) % STEPS.length ? { delayMs: 60_000 } : {};
    };
    const numbers = Array.from({ length: EXECUTIONS }, (_, n) => n);
    const held = (n: number) => STEPS[n % STEPS.length] ?? '';
    await Promise.all(numbers.map((n) => post(server.url + flow.path, { n })));
    await eventually(() => numbers.every((n) => asked(`/${held(n)}/${n}`) === 1), { timeoutMs: 30_000 });
    outside.answer = {};
    await restart('SIGKILL');

    const ended = await untilEnded(flow, EXECUTIONS);
    expect(ended.map(({ status }) => status)).toEqual(numbers.map(() => 'succeeded'));
    expect(ended.map(({ trigger }) => trigger.event.body.n).toSorted((a, b) => a - b)).toEqual(numbers);
    for (const n of numbers) {
      // The step that was under way runs again; those before it were stored, those after it had not
      // begun.
      const expected = STEPS.map((step) => [step, step === held(n) ? 2 : 1]);
      expect([n, STEPS.map((step) => [step, asked(`/${step}/${n}`)])]).toEqual([n, expected]);
    }
    await eventually(() => asked('/hook') >= EXECUTIONS * STEPS.length);
    const bodies = outside.requests.filter(({ url }) => url === '/hook').map(({ body }) => body);
    expect(bodies.toSorted()).toEqual(
      numbers.flatMap((n) => STEPS.map((step) => JSON.stringify({ n, step }))).toSorted(),
    );
  });
});

describe('kill -9 at any moment, again and again', () => {
  const KILLS = longRun(1, 3);
  const AT_A_TIME = 8;

  test('results seen outside of a step never change, and each accepted request ends', async () => {
    // Each step draws a number. Those after it tell it: a step that ran again after that would tell
    // another one.
    const draws = (namespace: string, effect = '') => ({
      namespace,
      component_code:
        action(`const seen = Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, step.$return_value]));
        ${effect} return Math.random();`),
    });
    const tell = `await fetch('${outside.url}/told', { method: 'POST', body: JSON.stringify({ id: $.context.id, seen }) });`;
    const flow = await make([draws('a'), draws('b'), draws('c', tell), draws('d'), draws('e', tell), draws('f', tell)]);
    outside.requests.length = 0;
    outside.answer = () => ({ delayMs: Math.floor(Math.random() * 20) });
    let taken = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
      const abort = new AbortController();
      const clients = Array.from({ length: AT_A_TIME }, () => sendUntil(abort.signal, () => (taken += 1)));
      const enough = outside.requests.length + 40 * kill;
      await eventually(() => outside.requests.length > enough, { timeoutMs: 30_000 });
      await server.process.end('SIGKILL');
      abort.abort();
      await Promise.all(clients);
      server = await startServer({ dataDir });
    }
    await eventually(async () => (await pending(flow)) === 0, {
      timeoutMs: 60_000,
      what: 'the end of all executions',
    });

    const { page_info: pages } = (await server.api('GET', `/workflows/${flow.id}/executions?status=succeeded`)).body;
    expect(pages.total_count).toBeGreaterThanOrEqual(taken);
    const told = new Map<string, Record<string, Set<number>>>();
    for (const { body } of outside.requests) {
      const { id, seen } = JSON.parse(body) as { id: string; seen: Record<string, number> };
      const values = told.get(id) ?? {};
      told.set(id, values);
      for (const [name, value] of Object.entries(seen)) (values[name] ??= new Set()).add(value);
    }
    expect(told.size).toBe(pages.total_count);
    const changed = [...told].filter(([, values]) => Object.values(values).some(({ size }) => size !== 1));
    expect(changed).toEqual([]);

    async function sendUntil(signal: AbortSignal, wasTaken: () => void): Promise<void> {
      while (!signal.aborted) {
        const answer = await post(server.url + flow.path, {}).catch(() => undefined);
        if (answer?.status !== 200) return;
        wasTaken();
      }
    }
  });

  async function pending({ id }: Made): Promise<number> {
    const counts = await Promise.all(
      ['queued', 'running', 'waiting'].map(async (status) => {
        const { body } = await server.api('GET', `/workflows/${id}/executions?limit=1&status=${status}`);
        return body.data.length as number;
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }
});

describe('a restart', () => {
  const waiting = () => ({
    namespace: 'wait',
    component_code: action(`const links = $.flow.suspend();
      await fetch('${outside.url}/ask', { method: 'POST', body: JSON.stringify(links) });`),
  });
  const LAST = { namespace: 'last', component_code: action('return steps.wait.$resume_data;') };

  async function suspend(flow: Made): Promise<{ id: string; resumePath: string }> {
    outside.requests.length = 0;
    await post(server.url + flow.path, { n: 1 });
    const [request] = await outside.until(1, 30_000);
    const { resume_url: url } = JSON.parse(request?.body ?? '') as { resume_url: string };
    const found = await eventually(async () => (await executionsOf(flow)).find(({ status }) => status === 'waiting'));
    return { id: found.id, resumePath: new URL(url).pathname };
  }

  test('leaves a suspended execution as it was: its link resumes it', async () => {
    const flow = await make([waiting(), LAST]);
    const { id, resumePath } = await suspend(flow);
    await restart('SIGTERM');
    expect((await execution(id)).status).toBe('waiting');
    expect((await post(server.url + resumePath, { approved: 'yes' })).status).toBe(200);
    await untilEnded(flow, 1);
    expect(await execution(id)).toMatchObject({
      status: 'succeeded',
      steps: { last: { $return_value: { approved: 'yes' } } },
    });
    expect((await post(server.url + resumePath, {})).status).toBe(404);
  });

  test('does not stop waiting executions, nor replays of failed ones', async () => {
    const delayed = await make([
      { namespace: 'wait', component_code: action('$.flow.delay(3000); return Date.now();') },
      { namespace: 'last', component_code: action('return Date.now() - steps.wait.$return_value;') },
    ]);
    const failing = await make([
      { namespace: 'first', component_code: action(`return (await fetch('${outside.url}/counted')).status;`) },
      {
        namespace: 'second',
        component_code: action('if (!$.context.replay) throw new Error("first time"); return 2;'),
      },
    ]);
    outside.requests.length = 0;
    await Promise.all([delayed, failing].map(({ path }) => post(server.url + path, { n: 1 })));
    const [failed] = await untilEnded(failing, 1);
    await eventually(async () => (await executionsOf(delayed))[0]?.status === 'waiting');
    await restart('SIGTERM');
    const { body } = await server.api('POST', `/executions/${failed?.id ?? ''}/replay`, { from: 'failed' });
    await untilEnded(failing, 2);
    expect(await execution(body.data.execution_id as string)).toMatchObject({
      status: 'succeeded',
      replay_of: failed?.id,
      steps: { first: { $return_value: 200 }, second: { $return_value: 2 } },
    });
    expect(asked('/counted')).toBe(1);
    const [ended] = await untilEnded(delayed, 1);
    expect((await execution(ended?.id ?? '')).steps.last.$return_value).toBeGreaterThanOrEqual(3000);
  });
});
