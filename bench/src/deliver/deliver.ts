import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { openDatabase, type Sql } from '../../../engine/src/db/database.ts';
import { prepareDatabase } from '../../../engine/src/db/server/prepare-database.ts';
import type { BenchArguments } from '../arguments.ts';
import { measureSignedPosts } from '../baselines/signed-posts.ts';
import { machineMs } from '../clock.ts';
import { createRequestTemplate } from '../load/request-bytes.ts';
import { describeMachine } from '../machine.ts';
import { eventId, ID_CHARS } from '../receiver/messages.ts';
import { startReceiver } from '../receiver/receiver.ts';
import { createApiClient } from '../system/api-client.ts';
import { bootSystem } from '../system/boot-system.ts';
import { cpuTimes } from '../system/cpu-times.ts';
import { attachInspector, type Inspector } from '../profile/inspector.ts';
import { type ProfileSummary, summarizeProfile } from '../profile/summarize-profile.ts';
import { formatCount, formatCpu, formatMachine, formatProfile, line } from '../text.ts';
import type { Undo } from '../undo.ts';
import { type Bench, besideDead, DEAD_URL, SHAPES } from './beside-dead.ts';
import { fillDeliveries, orderKeyOfCase, startDelivering } from './fill-deliveries.ts';

interface Case {
  name: string;
  /** One letter, that of its events. */
  phase: string;
  webhooks: number;
  /** Dead ones, of a hundred webhooks. */
  dead?: number;
  /** Ordering keys of each webhook. */
  keys?: number;
  /** The first of these keys is dead. */
  hasDeadKey?: boolean;
}

const CASES: readonly Case[] = [
  { name: '1 endpoint', phase: 'a', webhooks: 1 },
  { name: '100 endpoints', phase: 'b', webhooks: 100 },
  { name: '1 000 endpoints', phase: 'c', webhooks: 1_000 },
  { name: '100 endpoints, 1 dead', phase: 'd', webhooks: 100, dead: 1 },
  { name: '1 endpoint, FIFO, 100 keys', phase: 'f', webhooks: 1, keys: 100 },
  { name: '1 endpoint, FIFO, 1 000 keys', phase: 'g', webhooks: 1, keys: 1_000 },
  { name: '1 endpoint, FIFO, 1 000 keys, 1 dead', phase: 'h', webhooks: 1, keys: 1_000, hasDeadKey: true },
];
const WARM_UP: Case = { name: 'warm-up', phase: 'w', webhooks: 10 };
const WARM_UP_EVENTS = 2_000;
const BASELINE_MS = 2_000;
const STALL_MS = 30_000;
const CREATED_AT_ONCE = 16;

interface Result {
  name: string;
  arrived: number;
  expected: number;
  duplicates: number;
  perSecond: number;
  /** The share of the signed POSTs measured right before and right after it. */
  ratio: number;
  cpu: ReturnType<typeof cpuTimes>;
  profile?: ProfileSummary;
}

/**
 * How fast pending deliveries are drained, beside raw signed POSTs of the same bodies to the same
 * receiver. Each case has an account and webhooks of its own.
 */
export async function benchDeliver(undo: Undo, options: BenchArguments): Promise<boolean> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'headwater-bench-deliver-'));
  undo.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = await prepareDatabase({ dataDir, log: pino({ level: 'warn' }) });
  undo.push(() => server.stop());
  const system = await bootSystem(undo, {
    databaseUrl: server.url,
    inspect: options.profile,
    ...(options.before && { projectDir: options.before }),
  });
  const db = openDatabase({ url: server.url, maxConnections: 2 });
  undo.push(() => db.close());
  const receiver = await startReceiver(undo);
  const inspector = system.inspectorUrl === undefined ? undefined : await attachInspector(system.inspectorUrl);
  if (inspector !== undefined) undo.push(() => inspector.close());
  const drain = createDrain({ sql: db.sql, system, receiver, options }, inspector);
  await drain(WARM_UP, WARM_UP_EVENTS);
  const results: Result[] = [];
  let before = await measureSignedPosts(receiver.baselineUrl, options, BASELINE_MS);
  for (const one of CASES.filter(({ phase }) => options.group?.includes(phase) ?? true)) {
    const drained = await drain(one, options.events);
    const after = await measureSignedPosts(receiver.baselineUrl, options, BASELINE_MS);
    results.push({ ...drained, ratio: (2 * drained.perSecond) / (before + after) });
    before = after;
  }
  const neighbours = [];
  for (const shape of SHAPES.filter(({ letter }) => options.group?.includes(letter) ?? true)) {
    neighbours.push(await besideDead({ sql: db.sql, system, receiver, options }, shape));
  }
  const machine = describeMachine();
  if (options.json) console.log(JSON.stringify({ machine, options, results, neighbours }, undefined, 2));
  else {
    const lines = results.flatMap((result) => format(result, options));
    console.log([formatMachine(machine), ...lines, ...neighbours.flatMap(({ text }) => text)].join('\n'));
  }
  return results.every(({ arrived, expected, duplicates }) => arrived === expected && duplicates === 0);
}

function createDrain({ sql, system, receiver, options }: Bench, inspector: Inspector | undefined) {
  const operator = createApiClient(system, system.adminKey);
  const { body } = createRequestTemplate(receiver.url, options.bodyBytes, ID_CHARS);
  return async (
    { name, phase, webhooks, dead = 0, keys, hasDeadKey = false }: Case,
    events: number,
  ): Promise<Omit<Result, 'ratio'>> => {
    const apiKey = await operator.createAccount(name);
    const isDead = (nth: number) => nth < (webhooks * dead) / 100;
    const urlOf = (nth: number) => (isDead(nth) ? DEAD_URL : receiver.url);
    const order = keys === undefined ? {} : { ordering: 'fifo', ordering_key: 'id' };
    const ids = await createWebhooks({ url: system.url, apiKey }, webhooks, (nth) => ({ url: urlOf(nth), ...order }));
    const [row] = await sql<{ id: string }[]>`select account_id as id from webhooks where id = ${ids[0] ?? ''}`;
    const target = { accountId: row?.id ?? '', webhookIds: ids, ...(keys === undefined ? {} : { keys }) };
    const bodies = Array.from({ length: events }, (_, n) => body(eventId(phase, n)));
    const refuseEvery = hasDeadKey && keys !== undefined ? keys : 0;
    receiver.begin(phase, events, refuseEvery);
    await fillDeliveries(sql, target, bodies);
    await sql`analyze deliveries, events`;
    const isRefused = (n: number) => refuseEvery > 0 && n % refuseEvery === 0;
    const expected = bodies.filter((_, n) => !isDead(n % webhooks) && !isRefused(n)).length;
    const processes = system.processes();
    await inspector?.startProfile();
    const beganMs = machineMs();
    await startDelivering(sql, target);
    await receiver.settle(phase, expected, STALL_MS);
    const profile = await inspector?.stopProfile();
    const cpu = cpuTimes(processes, system.processes());
    const { atMs, duplicates } = await receiver.collect(phase);
    const arrivals = atMs.filter((ms) => ms > 0);
    const endedMs = arrivals.reduce((latest, ms) => Math.max(latest, ms), beganMs);
    await untilRecorded(
      sql,
      ids.filter((_, nth) => !isDead(nth)),
      hasDeadKey ? orderKeyOfCase(0) : '',
    );
    const perSecond = (arrivals.length / (endedMs - beganMs)) * 1_000;
    const found = profile === undefined ? {} : { profile: summarizeProfile(profile) };
    return { name, arrived: arrivals.length, expected, duplicates, perSecond, cpu, ...found };
  };
}

async function createWebhooks(
  { url, apiKey }: { url: string; apiKey: string },
  count: number,
  settings: (nth: number) => object,
): Promise<string[]> {
  const create = async (nth: number) => {
    const response = await fetch(`${url}/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(settings(nth)),
    });
    if (!response.ok) throw new Error(`POST /webhooks answered ${response.status}: ${await response.text()}`);
    return ((await response.json()) as { data: { id: string } }).data.id;
  };
  const ids: string[] = [];
  while (ids.length < count) {
    const some = Math.min(CREATED_AT_ONCE, count - ids.length);
    ids.push(...(await Promise.all(Array.from({ length: some }, (_, i) => create(ids.length + i)))));
  }
  return ids;
}

/** The next case begins with an idle node. */
async function untilRecorded(sql: Sql, webhookIds: readonly string[], deadKey: string): Promise<void> {
  const deadlineMs = performance.now() + STALL_MS;
  while (performance.now() < deadlineMs) {
    const [row] = await sql<{ left: boolean }[]>`
      select exists (
        select from deliveries where webhook_id = any(${[...webhookIds]}::text[]) and status = 'pending'
          and order_key is distinct from ${deadKey}::text
      ) as left`;
    if (row?.left === false) return;
    await sleep(50);
  }
}

function format(result: Result, { events }: BenchArguments) {
  const { name, arrived, expected, duplicates, perSecond, ratio, cpu, profile } = result;
  const fault = arrived === expected && duplicates === 0 ? '' : `, ${expected - arrived} missing, ${duplicates} twice`;
  return [
    `deliver: ${formatCount(events)} pending to ${name}${fault}`,
    line('deliveries/s', formatCount(perSecond)),
    line('of signed undici POSTs', ratio.toFixed(2)),
    line('CPU, µs a delivery', formatCpu(cpu, Math.max(1, arrived))),
    ...(profile === undefined ? [] : [formatProfile(profile)]),
  ];
}
