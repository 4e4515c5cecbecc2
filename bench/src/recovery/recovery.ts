import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { prepareDatabase } from '../../../engine/src/db/server/prepare-database.ts';
import { openDatabase, type Sql } from '../../../engine/src/db/database.ts';
import type { BenchArguments } from '../arguments.ts';
import { EMITTING_SOURCE } from '../event-source.ts';
import { runLoad } from '../load/load-phase.ts';
import { createRequestTemplate } from '../load/request-bytes.ts';
import { describeMachine } from '../machine.ts';
import { eventId, ID_CHARS } from '../receiver/messages.ts';
import { startReceiver } from '../receiver/receiver.ts';
import { type ApiClient, createApiClient } from '../system/api-client.ts';
import { bootSystem, type System } from '../system/boot-system.ts';
import { formatCount, formatMachine, line } from '../text.ts';
import type { Undo } from '../undo.ts';
import { leaveDeliveries, leaveInvocations, readLeft, readWork, type Work } from './leave-rows.ts';

interface Target {
  work: Work;
  endpointUrl: string;
}

interface Round {
  normalPerSecond: number;
  recoveredPerSecond: number;
  /** When the first tenant was done, as a part of the whole time: 1 is fair. */
  firstDone: number;
}

interface KindResult {
  kind: string;
  rounds: Round[];
  /** Ratio of the medians. */
  ratio: number;
}

const TENANTS = 4;
const ROUNDS = 3;
const WARM_UP = 500;
const POLL_MS = 50;
const PATIENCE_MS = 180_000;
const STEP = `export default { name: 'Step', version: '1', type: 'action', run({ $ }) { $.respond({ status: 200, body: 'ok' }); } };`;

/**
 * Measures how fast a node works off a dead node's rows, compared with the same work arriving
 * normally, in alternating rounds. The dead node was killed before it began the rows.
 */
export async function benchRecovery(undo: Undo, options: BenchArguments): Promise<boolean> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'headwater-bench-recovery-'));
  undo.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = await prepareDatabase({ dataDir, log: pino({ level: 'warn' }) });
  undo.push(() => server.stop());
  const system = await bootSystem(undo, { databaseUrl: server.url });
  const db = openDatabase({ url: server.url, maxConnections: 2 });
  undo.push(() => db.close());
  const receiver = await startReceiver(undo);
  const measure = createMeasurement(db.sql, options);
  const deploySource = async (api: ApiClient) => {
    const { id, endpointUrl } = await api.deploySource(EMITTING_SOURCE);
    return { id, endpointUrl, work: await readWork(db.sql, endpointUrl) };
  };
  const runs = await inTenants(system, deploySource);
  const delivered = await inTenants(system, async (api) => {
    const { id, endpointUrl, work } = await deploySource(api);
    const { webhookId } = await api.subscribe(id, receiver.baselineUrl);
    return { endpointUrl, work: { ...work, webhookId } };
  });
  const executions = await inTenants(system, async (api) => {
    const endpointUrl = await api.deployWorkflow([await api.saveComponent(STEP)], {});
    return { endpointUrl, work: await readWork(db.sql, endpointUrl) };
  });
  const results = [
    await measure('runs', runs),
    await measure('deliveries', delivered),
    await measure('executions', executions),
  ];
  const machine = describeMachine();
  if (options.json) console.log(JSON.stringify({ machine, options, results }, undefined, 2));
  else console.log([formatMachine(machine), ...results.map((result) => formatResult(result, options))].join('\n'));
  return true;
}

function inTenants(system: System, make: (api: ApiClient) => Promise<Target>): Promise<Target[]> {
  const operator = createApiClient(system, system.adminKey);
  return Promise.all(
    Array.from({ length: TENANTS }, async (_, i) =>
      make(createApiClient(system, await operator.createAccount(`Bench ${i}`))),
    ),
  );
}

function createMeasurement(sql: Sql, options: BenchArguments) {
  const each = Math.ceil(options.events / TENANTS);

  async function untilDone(
    works: readonly Work[],
    deadNode?: string,
  ): Promise<{ elapsedMs: number; firstDone: number }> {
    const deadlineMs = performance.now() + PATIENCE_MS;
    let beganMs = deadNode === undefined ? performance.now() : undefined;
    let firstDoneMs: number | undefined;
    for (;;) {
      const { leased, rows } = await readLeft(sql, works, deadNode);
      const nowMs = performance.now();
      // From when it was found to be dead.
      if (leased === 0) beganMs ??= nowMs;
      if (beganMs !== undefined && rows.size < works.length) firstDoneMs ??= nowMs;
      if (beganMs !== undefined && rows.size === 0) {
        const elapsedMs = nowMs - beganMs;
        return { elapsedMs, firstDone: ((firstDoneMs ?? nowMs) - beganMs) / elapsedMs };
      }
      if (nowMs > deadlineMs) throw new Error(`Rows were left after ${PATIENCE_MS} ms: ${JSON.stringify([...rows])}`);
      await sleep(POLL_MS);
    }
  }

  async function workNormally(targets: readonly Target[], requests: number): Promise<number> {
    const beganMs = performance.now();
    await Promise.all(
      targets.map(async ({ endpointUrl }) => {
        const template = createRequestTemplate(endpointUrl, options.bodyBytes, ID_CHARS);
        await runLoad({
          target: template.target,
          connections: Math.ceil(options.connections / TENANTS),
          requests,
          maxMs: options.maxPhaseMs,
          request: (i) => template.request(eventId('r', i)),
        });
      }),
    );
    await untilDone(targets.map(({ work }) => work));
    return (requests * targets.length * 1_000) / (performance.now() - beganMs);
  }

  async function recover(
    kind: string,
    targets: readonly Target[],
  ): Promise<Pick<Round, 'recoveredPerSecond' | 'firstDone'>> {
    const works = targets.map(({ work }) => work);
    const template = createRequestTemplate(targets[0]?.endpointUrl ?? '', options.bodyBytes, ID_CHARS);
    const deadNode =
      kind === 'deliveries'
        ? await leaveDeliveries(sql, works, each)
        : await leaveInvocations(sql, works, each, (i) => template.body(eventId('r', i)));
    const { elapsedMs, firstDone } = await untilDone(works, deadNode);
    return { recoveredPerSecond: (each * works.length * 1_000) / elapsedMs, firstDone };
  }

  return async (kind: string, targets: readonly Target[]): Promise<KindResult> => {
    await workNormally(targets, WARM_UP);
    const rounds: Round[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const normalPerSecond = await workNormally(targets, each);
      rounds.push({ normalPerSecond, ...(await recover(kind, targets)) });
    }
    const ratio =
      median(rounds.map((one) => one.recoveredPerSecond)) / median(rounds.map((one) => one.normalPerSecond));
    return { kind, rounds, ratio };
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function formatResult({ kind, rounds, ratio }: KindResult, options: BenchArguments): string {
  const list = (values: readonly number[]) => values.map(formatCount).join(', ');
  return [
    `recovery: ${formatCount(options.events)} ${kind} of ${TENANTS} tenants, ${ROUNDS} rounds`,
    line('normal, a second', list(rounds.map((round) => round.normalPerSecond))),
    line('left by a dead node', list(rounds.map((round) => round.recoveredPerSecond))),
    line('ratio of the medians', ratio.toFixed(2)),
    line('first tenant done at', rounds.map(({ firstDone }) => `${Math.round(firstDone * 100)} %`).join(', ')),
  ].join('\n');
}
