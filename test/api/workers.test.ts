import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { mergeFigures } from '../../api/src/workers/merge-figures.ts';
import { childProcessIds } from '../support/child-processes.ts';
import { eventually } from '../support/eventually.ts';
import { type RequestEnd, startLoad } from '../support/keep-alive-load.ts';
import { deploy, startServer, type TestServer } from '../support/server.ts';

/* A server of two workers, as `hw server start --workers 2` runs it, on its embedded database. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const ECHO = `export default { name: "Echo", version: "1", props: { http: "$.interface.http" },
  run(event) { this.$emit({ id: event.body.id }); } };`;

const HEALTH_EVERY_MS = 50;

let server: TestServer;
let endpoint: string;
let sourceId: string;

beforeAll(async () => {
  server = await startServer({ env: { HEADWATER_WORKERS: '2' } });
  await server.process.untilOutput(/"msg":"headwater is up"/, 120_000);
  ({ id: sourceId, endpoint } = await deploy(server, ECHO));
});
afterAll(() => server?.process.end());

const log = () =>
  server.process
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { msg: string; worker?: number; level: number });

const workerPids = () => childProcessIds(server.process.pid, '--worker');

interface Health {
  status: string;
  workers: { wanted: number; up: number };
}

async function health(): Promise<Health> {
  return (await (await fetch(`${server.url}/healthz`)).json()) as Health;
}

/** Connections that stay, and new ones for each request. */
function sendRequests(name: string) {
  const clients = [true, true, false, false].map((keepAlive, at) => ({
    url: endpoint,
    name: `${name}-${at}`,
    keepAlive,
    pauseMs: 5,
  }));
  return startLoad(clients);
}

/** All without a 200, but one whose client may have stood still for longer than `closingIdleMs`. */
function unanswered(ends: readonly RequestEnd[]): RequestEnd[] {
  const without = ends.filter(({ status }) => status !== 200);
  const late = without.filter(({ error, reused }) => error === 'ECONNRESET' && reused === true);
  return without.filter((end) => !late.slice(0, 1).includes(end));
}

async function expectEmittedOnce(ends: readonly RequestEnd[]): Promise<void> {
  const accepted = ends.filter(({ status }) => status === 200).map(({ id }) => id);
  const emitted = async () => {
    const { body } = await server.api('GET', `/sources/${sourceId}/event_summaries?limit=100&expand=event`);
    return (body.data as { event: { id: string } }[]).map(({ event }) => event.id);
  };
  const last = accepted.slice(-20);
  await eventually(async () => new Set(last).isSubsetOf(new Set(await emitted())), { timeoutMs: 60_000 });
  const all = await emitted();
  expect(all.length).toBe(new Set(all).size);
}

test('both serve one port, each line of the log says its worker, and there is one database', async () => {
  expect(await health()).toEqual({ status: 'ok', workers: { wanted: 2, up: 2 } });
  expect(workerPids()).toHaveLength(2);
  const ups = log().filter(({ msg }) => msg === 'worker is up');
  expect(new Set(ups.map(({ worker }) => worker))).toEqual(new Set([1, 2]));
  expect(log().filter(({ msg }) => msg === 'embedded Postgres is up')).toHaveLength(1);
  const text = await (await fetch(`${server.url}/metrics`)).text();
  expect(text.match(/^headwater_runs_in_flight\{worker="[12]"\} \d+$/gm)).toHaveLength(2);
  expect(text.match(/^headwater_executions_waiting 0$/gm)).toHaveLength(1);
  expect(text.match(/^headwater_workers_up 2$/gm)).toHaveLength(1);
  const types = text.match(/^# TYPE \S+/gm) ?? [];
  expect(types.length).toBe(new Set(types).size);
});

test('SIGHUP replaces one worker after the other, and every request is answered', async () => {
  const before = workerPids();
  const load = sendRequests('hup');
  await eventually(() => load.ends.length > 50);
  process.kill(server.process.pid, 'SIGHUP');
  const isReady = eventually(() => log().some(({ msg }) => msg === 'the workers were restarted'), {
    timeoutMs: 120_000,
  });
  let isOver = false;
  void isReady.then(() => (isOver = true));
  const states = new Set<string>();
  while (!isOver) {
    states.add((await health()).status);
    await sleep(HEALTH_EVERY_MS);
  }
  await isReady;
  await load.stop();
  expect(states).toEqual(new Set(['ok']));
  expect(unanswered(load.ends)).toEqual([]);
  expect(new Set(before).isDisjointFrom(new Set(workerPids()))).toBe(true);
  expect(await health()).toEqual({ status: 'ok', workers: { wanted: 2, up: 2 } });
  await expectEmittedOnce(load.ends);
});

test('a worker that is killed is started again, and the other serves meanwhile', async () => {
  const [victim = 0] = workerPids();
  const load = sendRequests('kill');
  await eventually(() => load.ends.length > 50);
  process.kill(victim, 'SIGKILL');
  await eventually(() => log().some(({ msg }) => msg === 'a worker ended and is started again'), {
    timeoutMs: 60_000,
  });
  await eventually(async () => (await health()).workers.up === 2, { timeoutMs: 120_000 });
  await load.stop();
  // Only what was on its way to the one that died.
  expect(load.ends.filter(({ error }) => error === 'ECONNREFUSED')).toEqual([]);
  expect(load.ends.filter(({ status }) => status !== 200).length).toBeLessThanOrEqual(4);
  const text = await (await fetch(`${server.url}/metrics`)).text();
  expect(text).toMatch(/^headwater_worker_restarts_total 1$/m);
});

test('SIGTERM ends all of it in order, and answers what is under way', async () => {
  const load = sendRequests('stop');
  await eventually(() => load.ends.length > 50);
  const before = load.ends.length;
  expect(await server.process.end('SIGTERM')).toEqual({ code: 0, signal: null });
  await load.stop();
  const refused = ({ error, reused }: RequestEnd) =>
    error === 'ECONNREFUSED' || (error === 'ECONNRESET' && reused === false);
  expect(unanswered(load.ends.filter((end) => !refused(end)))).toEqual([]);
  expect(load.ends.slice(before).some(({ status }) => status === 200)).toBe(true);
  expect(log().filter(({ level }) => level >= 60)).toEqual([]);
  const postgres = await readFile(path.join(server.dataDir, 'postgres.log'), 'utf8');
  expect(postgres.trimEnd().split('\n').at(-1)).toMatch(/database system is shut down$/);
});

test('the figures of workers are one text: each family once, each sample with its worker', () => {
  const text = (value: number) =>
    `# HELP a_total A.\n# TYPE a_total counter\na_total{x="1"} ${value}\n\n# HELP b B.\n# TYPE b gauge\nb ${value}\n\n# HELP m M.\n# TYPE m gauge\nm 7\n`;
  const figures = [1, 2].map((worker) => ({ worker, text: text(worker * 10) }));
  expect(
    mergeFigures(figures, new Set(['m']))
      .split('\n')
      .filter(Boolean),
  ).toEqual([
    '# HELP a_total A.',
    '# TYPE a_total counter',
    'a_total{worker="1",x="1"} 10',
    'a_total{worker="2",x="1"} 20',
    '# HELP b B.',
    '# TYPE b gauge',
    'b{worker="1"} 10',
    'b{worker="2"} 20',
    '# HELP m M.',
    '# TYPE m gauge',
    'm 7',
  ]);
});
