import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect } from 'vitest';
import { startEngine } from '../../engine/src/index.ts';
import type { Sql } from '../../engine/src/db/database.ts';
import { createStarter, type ProcessStarter } from '../../sandbox-runtime/src/starter/starter.ts';
import type { AccountLimits } from '../../shared/src/index.ts';
import { createTestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { PRELUDE } from './hostile-process.ts';
import { addWebhook, makeTenant } from './hostile-tenant.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { serveEngine } from './serve-engine.ts';
import { ADMIN_KEY, callApi, freePort, post } from './server.ts';

/** Outcome of a run in a forged process. */
interface ForgedOutcome {
  /** Its error code in the database and in the API; absent for a successful run. */
  stored: string | undefined;
  answered: string | undefined;
  /** Events of the run, as stored for the attacker. */
  events: unknown[];
  /** Keys of the values in the attacker's stores. */
  keys: string[];
  /** Why processes were ended meanwhile, as the log has it. */
  reasons: string[];
}

export interface ForgedEngine {
  /**
   * Gives a run to a forged process that makes the named attack, while the other tenant's requests
   * continue. Expects that each request is answered, stored and delivered exactly once, and that
   * this tenant has no other rows. Expects that the node is ready and reports no error.
   */
  attack(name: string): Promise<ForgedOutcome>;
  /** Sets limits of the attacker's account. */
  limit(limits: Partial<AccountLimits>): Promise<void>;
  stop(): Promise<void>;
}

interface LogLine {
  level: number;
  reason?: string;
}

const ATTACKER = `export default { name: 'Attack', version: '1', run() {} };`;
const OTHER = `export default { name: 'Other', version: '1', props: { http: '$.interface.http', db: '$.service.db' },
  run({ body: { n } }) { this.db.set('n' + n, n); this.$emit({ n }); } };`;

const PAUSE_MS = 20;
const ERROR_LEVEL = 50;

/**
 * A node with its own database, in which one tenant has an honest sandbox process. All later
 * processes are the attacker's from their first line. `attacks`: function bodies with `run` and the
 * other tenant's `store`, as code behind PRELUDE.
 */
export async function startForgedEngine(attacks: Readonly<Record<string, string>>): Promise<ForgedEngine> {
  const lines: LogLine[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line) as LogLine) });
  const [database, dataDir, starter, receiver, port] = await Promise.all([
    createTestDatabase(),
    mkdtemp(path.join(tmpdir(), 'headwater-node-')),
    createStarter(),
    startReceiver(),
    freePort(),
  ]);
  const forging = forgingStarter(starter, forgedScript(attacks));
  // An option of the sandbox that no node is ever given.
  const sandbox = { blankProcesses: 0, starter: forging.starter };
  const url = `http://127.0.0.1:${port}`;
  const { engine } = await startEngine({
    role: 'all',
    databaseUrl: database.url,
    dataDir,
    encryptionKey: '5'.repeat(64),
    egressAllow: ['127.0.0.0/8'],
    sandbox,
    listeningPorts: () => [port],
    publicUrl: url,
    log,
  });
  const { server } = await serveEngine(engine, { publicUrl: url, port, log, adminKey: ADMIN_KEY });
  const { sql } = database.db;
  const node = { url, pid: process.pid, databaseUrl: database.url, dnsServer: '' };
  const other = await startOther(node, sql, receiver);
  await other.whileServed(() => Promise.resolve());
  forging.begin();
  const attacker = await startAttacker(node, sql);
  return {
    async attack(name) {
      const before = lines.length;
      const outcome = await other.whileServed(() => attacker.run(name, other.store));
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      // Every internal failure of the node is logged as an error, also `request failed
      // unexpectedly`.
      expect(lines.filter(({ level }) => level >= ERROR_LEVEL)).toEqual([]);
      return { ...outcome, reasons: lines.slice(before).flatMap(({ reason }) => reason ?? []) };
    },
    limit: (limits) => attacker.limit(limits),
    async stop() {
      engine.streams.end();
      engine.ingest.endWaits();
      await server.stop();
      await engine.stop();
      await Promise.all([starter.stop(), receiver.stop()]);
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Script of a forged process: it describes a component without reading it, and makes the attack
 * that its run's event names.
 */
function forgedScript(attacks: Readonly<Record<string, string>>): string {
  const members = Object.entries(attacks).map(([name, code]) => `${JSON.stringify(name)}(run, store) { ${code}; }`);
  return `${PRELUDE}
const OUTLINE = JSON.stringify({ exported: 'object', name: 'Attack', version: '1', run: 'function' });
const ATTACKS = { ${members.join(', ')} };
function heard(kind, run, parts) {
  if (kind === PING) send(PONG, 0);
  if (kind === DESCRIBE) send(DESCRIBED, run, OUTLINE);
  if (kind !== RUN) return;
  const { attack, store } = JSON.parse(parts[2]);
  ATTACKS[attack](run, store);
}`;
}

function forgingStarter(starter: ProcessStarter, script: string): { starter: ProcessStarter; begin(): void } {
  let isForging = false;
  return {
    starter: {
      ...starter,
      start: (order, events) => starter.start(isForging ? { ...order, script } : order, events),
    },
    begin: () => void (isForging = true),
  };
}

type Node = Parameters<typeof makeTenant>[0];

async function startOther(node: Node, sql: Sql, receiver: Receiver) {
  const tenant = await makeTenant(node, 'other');
  const source = await tenant.deploy(OTHER);
  await addWebhook(tenant, source.id, receiver.url);
  const made = await tenant.api('POST', '/data_stores', { name: 'Of the other' });
  const store = made.body.data.id as string;
  await tenant.api('PUT', `/data_stores/${store}/record`, { key: 'kept', value: 1 });
  const sent: { n: number }[] = [];

  async function request(): Promise<void> {
    const body = { n: sent.length };
    sent.push(body);
    expect((await post(source.endpoint, body)).status).toBe(200);
  }

  async function expectExact(): Promise<void> {
    const waiting = () => sql`select from invocations where account_id = ${tenant.id}`;
    await eventually(async () => (await waiting()).length === 0, { what: 'the runs of the other tenant' });
    await receiver.until(sent.length);
    const events = await sql<{ data: string }[]>`
      select data from events where account_id = ${tenant.id} or emitter_id = ${source.id}`;
    const values = await sql<{ key: string; value: string }[]>`
      select key, value from component_db where account_id = ${tenant.id} or source_id = ${source.id}`;
    const failed = await sql`select id from runs where account_id = ${tenant.id} or source_id = ${source.id}`;
    const records = await sql`select key, value from data_store_records where store_id = ${store}`;
    expect({
      events: inOrder(events.map(({ data }) => data)),
      values: inOrder(values.map(({ key, value }) => `${key} ${value}`)),
      delivered: inOrder(receiver.requests.map(({ body }) => body)),
      failed: [...failed],
      records: [...records],
    }).toEqual({
      events: inOrder(sent.map((body) => JSON.stringify(body))),
      values: inOrder(sent.map(({ n }) => `n${n} ${n}`)),
      delivered: inOrder(sent.map((body) => JSON.stringify(body))),
      failed: [],
      records: [{ key: 'kept', value: '1' }],
    });
  }

  return {
    store,
    /** Sends requests before, during and after. */
    async whileServed<T>(attack: () => Promise<T>): Promise<T> {
      await request();
      let isOver = false;
      const beside = async () => {
        while (!isOver) {
          await request();
          await sleep(PAUSE_MS);
        }
      };
      const [answer] = await Promise.all([attack().finally(() => (isOver = true)), beside()]);
      await request();
      await expectExact();
      return answer;
    },
  };
}

function inOrder(texts: readonly string[]): string[] {
  return texts.toSorted();
}

async function startAttacker(node: Node, sql: Sql) {
  const tenant = await makeTenant(node, 'attacker');
  const source = await tenant.deploy(ATTACKER);
  return {
    async limit(limits: Partial<AccountLimits>): Promise<void> {
      const answer = await callApi(`${node.url}/v1/accounts/${tenant.id}/limits`, 'PUT', limits, ADMIN_KEY);
      expect(answer.status).toBe(200);
    },
    async run(attack: string, store: string): Promise<Omit<ForgedOutcome, 'reasons'>> {
      const started = await tenant.api('POST', `/sources/${source.id}/run`, { event: { attack, store } });
      const { invocation_id: id } = started.body.data as { invocation_id: string };
      const open = () => sql`select from invocations where id = ${id}`;
      await eventually(async () => (await open()).length === 0, { timeoutMs: 30_000, what: `the end of ${attack}` });
      const [row] = await sql<{ error_code: string }[]>`select error_code from runs where id = ${id}`;
      const runs = (await tenant.api('GET', `/sources/${source.id}/runs?limit=100`)).body.data as Run[];
      const events = await sql<{ data: string }[]>`
        select data from events where account_id = ${tenant.id} and invocation_id = ${id} and channel <> '$errors'
        order by indexed_at_ms, seq`;
      const values = await sql<{ key: string }[]>`select key from component_db where account_id = ${tenant.id}`;
      return {
        stored: row?.error_code,
        answered: runs.find((run) => run.id === id)?.error?.code,
        events: events.map(({ data }) => JSON.parse(data) as unknown),
        keys: values.map(({ key }) => key),
      };
    },
  };
}

interface Run {
  id: string;
  error?: { code: string };
}
