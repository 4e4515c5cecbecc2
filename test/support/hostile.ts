import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll } from 'vitest';
import type { AccountLimits } from '../../shared/src/index.ts';
import { eventually } from './eventually.ts';
import { type HostileAccounts, leaveAccounts, setLimits, takeAccounts } from './hostile-accounts.ts';
import { unharmed } from './hostile-guard.ts';
import { type HostileServer, hostileServer } from './hostile-server.ts';
import { type Tenant, tryDeploy } from './hostile-tenant.ts';
import type { ApiAnswer } from './server.ts';
import type { Json } from './json.ts';

/** Outcome of an attack by a component's code. */
export interface AttackOutcome {
  /** Deploying it was refused: nothing ran as a source. */
  refused?: {
    status: number;
    code: string;
    detail: string;
    errors: { path: string; message: string }[];
    limit?: { name: string; value: number; used: number };
  };
  /** Error of its run; absent for a successful run. `limit`: the exceeded limit. */
  error?: {
    code: string;
    message: string;
    stack: string | null;
    limit?: { name: string; value: number; used: number };
  };
  /** Data of its events, oldest first; at most the newest 100. */
  events: Json[];
  /** Its log lines, all levels. */
  logs: string[];
  sourceId: string;
}

export interface AttackOptions {
  event?: unknown;
  props?: Record<string, unknown>;
  /** Default 20 000: how long to wait for the end of the run. */
  timeoutMs?: number;
}

export interface HostileWorld {
  readonly server: HostileServer;
  /** The database of the attacked server. */
  readonly sql: postgres.Sql;
  readonly attacker: Tenant;
  readonly neighbour: Tenant;
  /** Sets limits of the attacker's account, as its operator does. */
  limit(limits: Partial<AccountLimits>): Promise<void>;
  /**
   * Deploys `code` as the attacker, runs it once by hand and waits for the end of the run. Code
   * without an `export` is the body of `run(event)`, with `this.db`.
   */
  attack(code: string, options?: AttackOptions): Promise<AttackOutcome>;
  /** Runs a deployed source of the attacker by hand and waits for the end of that run. */
  run(sourceId: string, event?: unknown, timeoutMs?: number): Promise<AttackOutcome>;
  /** Resolves when none of the attacker's invocations waits or runs. */
  untilIdle(timeoutMs?: number): Promise<void>;
  /**
   * Runs the attack under steady requests to a third tenant's source. Then expects that each was
   * answered 200 and its event delivered exactly once. Also expects that the server is the same
   * process and ready, and that the database answers. Resolves with the attack's result.
   *
   * `npm run bench -- hostile` repeats the attack until it has enough samples, so an attack must
   * work more than once.
   */
  unharmed<T>(attack: () => Promise<T>): Promise<T>;
}

/**
 * All files of a worker ask over the same connections: opening two costs the database more than
 * what most files ask.
 */
const shared = globalThis as { hostileSql?: postgres.Sql };

/** Seldom enough not to be a load of its own. */
const POLL_MS = 25;

/**
 * A world for one attack: an attacker and a neighbour, on the one server that all attacks share.
 * Their accounts are those of the attack before it in its file, unless that has left something
 * behind; `ownAccounts`: they are made for it, and end with it. Call it once, at the top of the
 * `describe` of the attack:
 *
 * ```ts
 * // limits: A loop that never ends.
 * describe('sync-loop', () => {
 *   const world = hostile();
 *
 *   it('ends at the limit of CPU time, and the neighbour is served', async () => {
 *     await world.limit({ runCpuMs: 200 });
 *     const ran = await world.unharmed(() => world.attack('for (;;);'));
 *     expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 200 } });
 *   });
 * });
 * ```
 */
export function hostile({ ownAccounts = false } = {}): HostileWorld {
  const server = hostileServer();
  let sql: postgres.Sql | undefined;
  let accounts: HostileAccounts | undefined;
  const isOpen = openInvocations(() => world.sql);

  beforeAll(async () => {
    sql = shared.hostileSql ??= openPool(server.databaseUrl);
    accounts = await takeAccounts(server, { own: ownAccounts });
  });

  afterAll(async () => {
    if (accounts !== undefined) await leaveAccounts(server, world.sql, accounts);
  });

  const world: HostileWorld = {
    server,
    get sql() {
      return made(sql);
    },
    get attacker() {
      return made(accounts).attacker;
    },
    get neighbour() {
      return made(accounts).neighbour;
    },
    async limit(limits) {
      const { attacker, limited } = made(accounts);
      for (const name of Object.keys(limits) as (keyof AccountLimits)[]) limited.add(name);
      await setLimits(server, attacker, limits);
    },
    async attack(code, options = {}) {
      const answer = await tryDeploy(world.attacker, attackCode(code), options.props);
      if (answer.status !== 200) return { refused: refusalOf(answer), events: [], logs: [], sourceId: '' };
      return world.run(answer.body.data.id as string, options.event, options.timeoutMs);
    },
    run: (sourceId, event, timeoutMs = 20_000) => runOnce({ world, isOpen }, sourceId, event, timeoutMs),
    async untilIdle(timeoutMs = 20_000) {
      const open = () => world.sql`select from invocations where account_id = ${world.attacker.id}`;
      await eventually(async () => (await open()).length === 0, { timeoutMs, what: 'the runs of the attacker to end' });
    },
    unharmed: (attack) => unharmed(server, world.sql, attack),
  };
  return world;
}

/** Its connections end by themselves soon after the last file. */
function openPool(url: string): postgres.Sql {
  return postgres(url, { max: 2, idle_timeout: 1, onnotice: () => undefined });
}

function made<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The world of an attack is there from beforeAll on, not before');
  return value;
}

function attackCode(code: string): string {
  if (/^\s*export\b/m.test(code)) return code;
  return `export default { name: 'Attack', version: '1', props: { db: '$.service.db' }, async run(event) {\n${code}\n} };`;
}

function refusalOf(answer: ApiAnswer): NonNullable<AttackOutcome['refused']> {
  const { status, body, text } = answer;
  return {
    status,
    code: body?.type?.split(':').at(-1) ?? '',
    detail: body?.detail ?? text,
    errors: body?.errors ?? [],
    ...(body?.limit === undefined ? {} : { limit: body.limit }),
  };
}

/**
 * Tells whether an invocation still waits or runs. However many are asked for at the same time, the
 * database is asked once.
 */
function openInvocations(sql: () => postgres.Sql): (id: string) => Promise<boolean> {
  let ids: string[] = [];
  let open: Promise<ReadonlySet<string>> | undefined;
  async function ask(): Promise<ReadonlySet<string>> {
    await sleep(POLL_MS);
    const asked = ids;
    ids = [];
    open = undefined;
    const rows = await sql()<{ id: string }[]>`select id from invocations where id = any(${asked}::text[])`;
    return new Set(rows.map(({ id }) => id));
  }
  return async (id) => {
    ids.push(id);
    open ??= ask();
    return (await open).has(id);
  };
}

async function runOnce(
  { world, isOpen }: { world: HostileWorld; isOpen: (invocationId: string) => Promise<boolean> },
  sourceId: string,
  event: unknown,
  timeoutMs: number,
): Promise<AttackOutcome> {
  const { attacker } = world;
  const started = await attacker.api('POST', `/sources/${sourceId}/run`, event === undefined ? {} : { event });
  if (started.status !== 200) throw new Error(`Not run: ${started.status} ${started.text}`);
  const { invocation_id: id } = started.body.data as { invocation_id: string };
  await eventually(async () => !(await isOpen(id)), {
    timeoutMs,
    everyMs: 0,
    what: `the end of ${id}`,
  });
  const runs = await attacker.api('GET', `/sources/${sourceId}/runs?limit=100`);
  const run = runs.body.data.find((candidate: { id: string }) => candidate.id === id);
  const events = await attacker.api('GET', `/sources/${sourceId}/event_summaries?limit=100&expand=event`);
  return {
    ...(run?.error ? { error: run.error } : {}),
    events: events.body.data.map((record: { event: unknown }) => record.event).toReversed(),
    logs: run?.logs.map((line: { message: string }) => line.message) ?? [],
    sourceId,
  };
}
