import { spawnSync } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import type postgres from 'postgres';
import { expect } from 'vitest';
import { type HostileMeasurement, middleTry, ratioOf, TARGET_RATIO } from '../../bench/src/hostile-measurement.ts';
import { findHotCores, setCores } from '../../sandbox-runtime/src/confinement/cpu-cores.ts';
import { eventually } from './eventually.ts';
import type { HostileServer } from './hostile-server.ts';
import { type DeployedSource, makeTenant, type Tenant } from './hostile-tenant.ts';
import { startTraffic, type Traffic, type TrafficPhase } from './hostile-traffic.ts';

/**
 * Read by `npm run bench -- hostile`: with it, `unharmed` measures, and appends a line of JSON to
 * that file.
 */
const REPORT_VARIABLE = 'HEADWATER_HOSTILE_REPORT';
/** How many requests each phase of such a measurement has at least. */
const SAMPLES_VARIABLE = 'HEADWATER_HOSTILE_SAMPLES';

const NEIGHBOUR = `export default { name: 'Neighbour', version: '1', props: { http: '$.interface.http' },
  run(event) { this.$emit(event.body); } };`;

/**
 * An attack that is over at once is still met by a few requests. One that goes on meets them
 * seldom: at the first rate, they would take more of the machine than all attacks.
 */
const TEST = { warmUpRequests: 1, minRequests: 4, rate: { perSecond: 20, requests: 4, laterPerSecond: 4 } };
const BENCH = { warmUpRequests: 200, perSecond: 120, patience: 10 };
const DRAIN_MS = 15_000;
const MAX_TRIES = 5;

interface Neighbour {
  tenant: Tenant;
  source: DeployedSource;
  traffic: Traffic;
}

/**
 * All attacks of a worker have the same neighbour, also those of other files: that is one more
 * thing they must not harm. It is not `free` after a test that failed, which may have run out of
 * time and still be at it: then the next one starts another.
 */
const shared = globalThis as {
  hostileNeighbour?: { neighbour: Promise<Neighbour>; free: boolean };
  hostileClient?: true;
};

/**
 * Runs the attack beside a neighbour. Checks the attack's expectations, and the server and database
 * during and after it.
 */
export async function unharmed<T>(server: HostileServer, sql: postgres.Sql, attack: () => Promise<T>): Promise<T> {
  const report = process.env[REPORT_VARIABLE];
  const used = takeNeighbour(server);
  const neighbour = await used.neighbour;
  if (report !== undefined) shared.hostileClient ??= keepToHalf();
  await neighbour.traffic.warmUp(neighbour.source.endpoint, (report === undefined ? TEST : BENCH).warmUpRequests);
  const answer = await (report === undefined ? watch(neighbour, attack) : measure(neighbour, attack, report));
  await expectAlive(server, sql, neighbour);
  used.free = true;
  return answer;
}

function takeNeighbour(server: HostileServer): { neighbour: Promise<Neighbour>; free: boolean } {
  const last = shared.hostileNeighbour;
  if (last?.free === true) {
    last.free = false;
    return last;
  }
  last?.neighbour.then(({ traffic }) => traffic.stop()).catch(() => undefined);
  return (shared.hostileNeighbour = { neighbour: start(server), free: false });
}

/**
 * This process is the attackers' client. Real attackers have their own processors, so it leaves
 * half of these to the measured parts.
 */
function keepToHalf(): true {
  const cores = findHotCores();
  if (cores !== undefined) setCores({ command: (program, args) => void spawnSync(program, args) }, process.pid, cores);
  return true;
}

async function start(server: HostileServer): Promise<Neighbour> {
  const [tenant, traffic] = await Promise.all([makeTenant(server, 'steady neighbour'), startTraffic()]);
  const source = await tenant.deploy(NEIGHBOUR);
  const webhook = await tenant.api('POST', '/webhooks', { url: traffic.receiverUrl });
  const subscription = { emitter_id: source.id, listener_id: webhook.body.data.id };
  expect((await tenant.api('POST', '/subscriptions', subscription)).status).toBe(200);
  return { tenant, source, traffic };
}

async function watch<T>({ traffic, source }: Neighbour, attack: () => Promise<T>): Promise<T> {
  await traffic.begin(source.endpoint, TEST.rate);
  const answer = await attack();
  // One more, since most of them may have come while the attacker still deployed.
  const least = Math.max(TEST.minRequests, (await traffic.sent()) + 1);
  await eventually(async () => (await traffic.sent()) >= least);
  expectServed(await traffic.end(DRAIN_MS));
  return answer;
}

/**
 * Measures the same traffic without the attack and then with it. Without any attack, one in twenty
 * measurements exceeds the target. So a result beyond it is measured twice more, and twice again if
 * the median of three exceeds it.
 */
async function measure<T>(neighbour: Neighbour, attack: () => Promise<T>, report: string): Promise<T> {
  const first = await measureOnce(neighbour, attack);
  const tries = [first.tried];
  const line: HostileMeasurement = { attack: nameOfAttack(), tries };
  while (tries.length < MAX_TRIES && ratioOf(middleTry(line)) > TARGET_RATIO) {
    for (let again = 0; again < 2; again++) tries.push((await measureOnce(neighbour, attack)).tried);
  }
  await appendFile(report, `${JSON.stringify(line)}\n`);
  return first.answer;
}

/** Group and name, as the folder and the `describe` of the running test say. */
function nameOfAttack(): string {
  const { testPath = '', currentTestName = '' } = expect.getState();
  return `${path.basename(path.dirname(testPath))}/${currentTestName.split(' > ')[0]}`;
}

async function measureOnce<T>({ traffic, source }: Neighbour, attack: () => Promise<T>) {
  const samples = Number(process.env[SAMPLES_VARIABLE]);
  const enough = async () => (await traffic.sent()) >= samples;
  const timeoutMs = (samples / BENCH.perSecond) * 1_000 * BENCH.patience;
  await traffic.begin(source.endpoint, BENCH);
  await eventually(enough, { timeoutMs });
  const quiet = await traffic.end(DRAIN_MS);
  expectServed(quiet);
  await traffic.begin(source.endpoint, BENCH);
  const deadline = performance.now() + timeoutMs;
  const answer = await attack();
  let rounds = 1;
  for (; !(await enough()) && performance.now() < deadline; rounds++) await attack();
  const attacked = await traffic.end(DRAIN_MS);
  expectServed(attacked);
  return { answer, tried: { rounds, quietMs: quiet.latenciesMs, attackedMs: attacked.latenciesMs } };
}

function expectServed({ sent, statuses, lost, repeated }: TrafficPhase): void {
  expect({ statuses, lost, repeated }).toEqual({ statuses: { 200: sent }, lost: 0, repeated: 0 });
}

async function expectAlive(server: HostileServer, sql: postgres.Sql, { tenant, source }: Neighbour): Promise<void> {
  const shown = await tenant.api('GET', `/sources/${source.id}`);
  const state = {
    sameProcess: process.kill(server.pid, 0),
    health: (await fetch(`${server.url}/healthz`)).status,
    source: [shown.status, shown.body?.data?.active],
    database: (await sql`select 1 as answer`).length,
  };
  expect(state).toEqual({ sameProcess: true, health: 200, source: [200, true], database: 1 });
}
