import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { joinDatabase } from '../../../engine/src/db/server/join-database.ts';
import { openDatabase } from '../../../engine/src/db/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type RequestEnd, startLoad } from '../../support/keep-alive-load.ts';
import { testLog } from '../../support/logs.ts';
import { longRun, sampleCases } from '../../support/long-run.ts';
import { startProcess } from '../../support/processes.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { makeDataDir, rememberProcess } from '../../support/run-folder.ts';
import { ADMIN_KEY, API_KEY, callApi, deploy, freePort } from '../../support/server.ts';

/*
 * `npm start` with its embedded database, stopped by signals while clients send requests: nothing
 * that was accepted is lost, no request over a connection that stood is without an answer, and the
 * next start has nothing to repair.
 */

const MAIN = path.resolve(import.meta.dirname, '../../../api/src/main.ts');
const ROOT = path.resolve(import.meta.dirname, '../../..');

vi.setConfig({ testTimeout: 240_000 });

const waits = (ms: number, customResponse: boolean) => `export default { name: "Waits", version: "1",
  props: { http: { type: "$.interface.http", customResponse: ${customResponse} }, begun: "string" },
  async run(event) {
    ${ms > 1_000 ? 'await fetch(this.begun);' : ''}
    await new Promise((done) => setTimeout(done, ${ms}));
    this.$emit({ id: event.body.id });
    ${customResponse ? 'await this.http.respond({ status: 200, body: event.body.id });' : ''}
  } };`;

interface Started {
  url: string;
  child: ChildProcess;
  exited: Promise<number | null>;
  output(): string;
  api(method: string, apiPath: string, body?: unknown): ReturnType<typeof callApi>;
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** In a process group of its own; `inTerminal`: one that has the group in its foreground. */
async function startWithNpm(dataDir: string, inTerminal = false): Promise<Started> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const [command, ...args] = inTerminal ? ['script', '-qefc', 'npm start', '/dev/null'] : ['npm', 'start'];
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(command ?? '', args, {
    cwd: ROOT,
    detached: true,
    env: {
      PATH,
      HOME,
      TMPDIR,
      PORT: String(port),
      HEADWATER_DATA_DIR: dataDir,
      HEADWATER_API_KEY: API_KEY,
      HEADWATER_ADMIN_KEY: ADMIN_KEY,
      HEADWATER_EGRESS_ALLOW: '127.0.0.0/8',
    },
  });
  const forget = rememberProcess(child.pid);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  void exited.then(forget);
  const isReady = async () => (await fetch(`${url}/healthz`)).status === 200;
  await eventually(isReady, { timeoutMs: 60_000, what: 'npm start' }).catch((cause: unknown) => {
    throw new Error(output, { cause });
  });
  const api: Started['api'] = (method, apiPath, body) => callApi(`${url}/v1${apiPath}`, method, body, API_KEY);
  return { url, child, exited, output: () => output, api };
}

/** Sends requests to sources whose runs last this long. Resolves when it is time for the signal. */
async function startRequests(server: Started, runs: readonly number[], receiver: Receiver) {
  const kinds = runs.flatMap((ms) => [true, false].map((custom) => ({ ms, custom })));
  const clients = await Promise.all(
    kinds.map(async ({ ms, custom }) => {
      const { endpoint: url } = await deploy(server, waits(ms, custom), { props: { begun: receiver.url } });
      const name = `${ms}-${custom ? 'answered' : 'accepted'}`;
      const lasting = { url, name, pauseMs: custom ? 0 : 20 };
      if (ms > 1_000) return [{ ...lasting, requests: 1 }];
      // Slow runs get fewer clients. Otherwise runs would queue for each other, and the stop need
      // not wait for those.
      return [lasting, { ...lasting, name: `${name}-too` }, ...(ms > 100 ? [] : [{ ...lasting, keepAlive: false }])];
    }),
  );
  const load = startLoad(clients.flat().map((client, at) => ({ ...client, name: `${at}-${client.name}` })));
  const long = runs.filter((ms) => ms > 1_000).length * 2;
  await eventually(() => receiver.requests.length === long && load.ends.length > 100, { timeoutMs: 60_000 });
  return load;
}

/** Each with the ids that were emitted: once for every answer, and for nothing twice. */
async function expectKept(dataDir: string, answers: readonly RequestEnd[]): Promise<void> {
  const joined = await joinDatabase({ dataDir, log: testLog });
  const db = openDatabase({ url: joined.url, maxConnections: 1 });
  try {
    await eventually(async () => (await db.sql`select from invocations`).length === 0, { timeoutMs: 60_000 });
    const events = await db.sql<{ data: string }[]>`select data from events`;
    const emitted = events.map(({ data }) => (JSON.parse(data) as { id: string }).id);
    expect(emitted.length).toBe(new Set(emitted).size);
    const accepted = answers.filter(({ status }) => status === 200).map(({ id }) => id);
    expect(new Set(accepted).difference(new Set(emitted))).toEqual(new Set());
  } finally {
    await db.close();
    await joined.stop();
  }
}

test('a start that waits for its database ends soon after a signal, in order', async () => {
  const child = startProcess({
    args: [MAIN, 'api'],
    env: { PORT: String(await freePort()), DATABASE_URL: `postgres://nobody@127.0.0.1:${await freePort()}/none` },
  });
  ends.push(() => child.end());
  await child.untilOutput(/waiting for the database/, 60_000);
  expect(await child.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(child.output()).toContain('the start was interrupted');
});

const SIGNALS = [
  ['SIGTERM to npm alone', [10, 1_000], 0, (pid: number) => process.kill(pid, 'SIGTERM')],
  ['Ctrl-C in a terminal', [10, 1_000], 130, (_pid: number, child: ChildProcess) => child.stdin?.write('\x03')],
  ['SIGTERM to the group', [10, 1_000, longRun(4_000, 8_000)], 0, (pid: number) => process.kill(-pid, 'SIGTERM')],
] as const;

test.each(sampleCases(SIGNALS, 2))('%s ends a node under load in order', async (name, runs, code, signal) => {
  const receiver = await startReceiver();
  ends.push(receiver.stop);
  const dataDir = makeDataDir();
  const server = await startWithNpm(dataDir, name.startsWith('Ctrl-C'));
  const load = await startRequests(server, runs, receiver);
  const before = load.ends.length;
  signal(server.child.pid ?? 0, server.child);
  expect([await server.exited, server.output()]).toEqual([code, expect.stringContaining('stopping')]);
  expect(server.output()).not.toMatch(/stopping at once|took too long|the stop failed/);
  await load.stop();
  // Requests after the server stopped listening may be refused. A connection that was not accepted
  // yet may be reset.
  const unanswered = load.ends.filter(({ status, error, reused }) => {
    return status !== 200 && error !== 'ECONNREFUSED' && !(error === 'ECONNRESET' && reused === false);
  });
  // If a client's process stalls between an answer and its next request, it can exceed
  // closingIdleMs.
  const late = unanswered.filter(({ error, reused }) => error === 'ECONNRESET' && reused === true);
  expect(unanswered).toEqual(late.slice(0, 1));
  expect(load.ends.slice(before).some(({ status }) => status === 200)).toBe(true);
  const serverLog = await readFile(path.join(dataDir, 'postgres.log'), 'utf8');
  expect(serverLog.trimEnd().split('\n').at(-1)).toMatch(/database system is shut down$/);

  const next = await startWithNpm(dataDir);
  await expectKept(dataDir, load.ends);
  process.kill(-(next.child.pid ?? 0), 'SIGTERM');
  expect([await next.exited, next.output()]).toEqual([0, expect.not.stringContaining('adopted":true')]);
});
