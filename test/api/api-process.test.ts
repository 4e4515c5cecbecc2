import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../shared/src/index.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { startProcess, type TestProcess } from '../support/processes.ts';
import { deploy, freePort, startServer } from '../support/server.ts';

const MAIN = fileURLToPath(new URL('../../api/src/main.ts', import.meta.url));

const SLOW = `export default {
  name: "Slow", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  async run() {
    await new Promise((done) => setTimeout(done, 1000));
    await this.http.respond({ status: 201, body: "late" });
  },
};`;

let database: TestDatabase;
let dataDir: string;
let processes: TestProcess[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(path.join(tmpdir(), 'headwater-process-'));
});
afterEach(async () => {
  for (const process of processes) await process.end();
  processes = [];
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

function startMain(env: Record<string, string>, args: string[] = [], ownSession = false): TestProcess {
  const common = { DATABASE_URL: database.url, HEADWATER_DATA_DIR: dataDir, HEADWATER_ENCRYPTION_KEY: 'e'.repeat(64) };
  const process = startProcess({ args: [MAIN, ...args], env: { ...common, ...env }, ownSession });
  processes.push(process);
  return process;
}

test('a wrong configuration ends the process with code 1 and every problem on a line', async () => {
  const process = startMain({ PORT: 'x', HEADWATER_ADMIN_KEY: 'short' }, ['everything']);
  expect(await process.exited).toEqual({ code: 1, signal: null });
  expect(process.output().match(/^ {2}- .+$/gm)).toHaveLength(3);
});

test('the first start prints a key that works, the second none', async () => {
  const port = await freePort();
  const first = startMain({ PORT: String(port) });
  const [, key = ''] = await first.untilOutput(/API key +(hw_\w+)/);
  const me = await fetch(`http://127.0.0.1:${port}/v1/users/me`, { headers: { authorization: `Bearer ${key}` } });
  expect(me.status).toBe(200);
  expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(first.output()).not.toMatch(/"level":[56]0/);
  const second = startMain({ PORT: String(port) });
  await second.untilOutput(/headwater is up/);
  expect(await second.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(second.output()).not.toContain('hw_');
});

test('without a layer that it is to have, a node does not start, says which and why, and has touched no database', async () => {
  const { sql } = database.db;
  await sql.unsafe('drop schema public cascade; create schema public');
  const process = startMain({
    PORT: String(await freePort()),
    HEADWATER_SANDBOX_CGROUP: '/nowhere',
    HEADWATER_SANDBOX_REQUIRE: 'all',
  });
  expect(await Promise.race([process.exited, process.untilOutput(/headwater is up/)])).toEqual({
    code: 1,
    signal: null,
  });
  expect(await sql`select from pg_tables where schemaname = 'public'`).toHaveLength(0);
  expect(process.output()).toMatch(
    /^Headwater cannot start: HEADWATER_SANDBOX_REQUIRE names layers .* do not have here: .*memory \(.+\)\. .*docs\/security\.md$/m,
  );
});

test('a port that is taken is said in a sentence, and the process ends with code 1', async () => {
  const holder: Server = createServer();
  await new Promise<void>((resolve) => void holder.listen(0, '127.0.0.1', resolve));
  const { port } = holder.address() as { port: number };
  const process = startMain({ PORT: String(port) });
  expect(await process.exited).toEqual({ code: 1, signal: null });
  expect(process.output()).toMatch(/^Headwater cannot start: .*EADDRINUSE/m);
  // The next start would make none.
  const [, key = ''] = /API key +(hw_\w+)/.exec(process.output()) ?? [];
  const next = startMain({ PORT: String(await freePort()) });
  await next.untilOutput(/headwater is up/);
  expect(next.output()).not.toContain('hw_');
  const url = /"url":"([^"]+)"/.exec(next.output())?.[1];
  const me = await fetch(`${url}/v1/users/me`, { headers: { authorization: `Bearer ${key}` } });
  expect(me.status).toBe(200);
  await new Promise((resolve) => holder.close(resolve));
});

test.each(['SIGTERM', 'SIGHUP'] as const)(
  '%s lets the request in flight get its answer, then the process ends with code 0',
  async (signal) => {
    const server = await startServer({ databaseUrl: database.url });
    const { endpoint } = await deploy(server, SLOW);
    const answer = fetch(endpoint);
    await eventually(async () => (await metricsOf(server.url)).includes('headwater_runs_in_flight 1'));
    const ended = server.process.end(signal);
    expect(await (await answer).text()).toBe('late');
    expect(await ended).toEqual({ code: 0, signal: null });
    await server.stop();
  },
);

test('a signal that comes twice is one; the next ends the process at once, some seconds after the first', async () => {
  const server = await startServer({ databaseUrl: database.url });
  const { endpoint } = await deploy(server, SLOW.replace('1000', '60_000'));
  const answer = fetch(endpoint).catch(() => undefined);
  await eventually(async () => (await metricsOf(server.url)).includes('headwater_runs_in_flight 1'));
  void server.process.end('SIGTERM');
  await server.process.untilOutput(/"msg":"stopping"/);
  const again = setInterval(() => void server.process.end('SIGINT'), 50);
  expect(await server.process.exited).toEqual({ code: 1, signal: null });
  clearInterval(again);
  expect(await answer).toBeUndefined();
  const timeOf = (msg: string) =>
    Number(new RegExp(`"time":(\\d+).*"msg":"${msg}"`).exec(server.process.output())?.[1]);
  expect(timeOf('stopping at once') - timeOf('stopping')).toBeGreaterThanOrEqual(LIMITS.secondSignalMs);
});

test('a signal to the group of a starting node ends it and its children with code 0', async () => {
  for (const moment of [/embedded Postgres is up/, /0012_timers_and_changes/, /0048_encryption_keys/]) {
    const node = startMain({ DATABASE_URL: '', PORT: String(await freePort()) }, [], true);
    await node.untilOutput(moment);
    process.kill(-node.pid, 'SIGTERM');
    expect([await node.exited, node.output()]).toEqual([
      { code: 0, signal: null },
      expect.stringContaining('stopping'),
    ]);
    await rm(dataDir, { recursive: true });
  }
});

test('an engine node serves health and figures, and nothing else, where a port is set', async () => {
  const port = await freePort();
  const process = startMain({ PORT: String(port) }, ['engine']);
  await process.untilOutput(/headwater is up/);
  const statusOf = async (at: string) => (await fetch(`http://127.0.0.1:${port}${at}`)).status;
  expect(await Promise.all(['/healthz', '/metrics', '/v1/users/me', '/e/x'].map(statusOf))).toEqual([
    200, 200, 404, 404,
  ]);
  expect(await process.end('SIGTERM')).toEqual({ code: 0, signal: null });
});

async function metricsOf(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}
