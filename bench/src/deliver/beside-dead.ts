import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@headwater/shared';
import type { Sql } from '../../../engine/src/db/database.ts';
import { ACCOUNT_CHANGED_CHANNEL, WEBHOOK_CHANGED_CHANNEL } from '../../../engine/src/db/index.ts';
import type { BenchArguments } from '../arguments.ts';
import { machineMs } from '../clock.ts';
import type { LatencySummary } from '../load/latencies.ts';
import { createRequestTemplate } from '../load/request-bytes.ts';
import { eventId, ID_CHARS } from '../receiver/messages.ts';
import type { Receiver } from '../receiver/receiver.ts';
import { createApiClient } from '../system/api-client.ts';
import type { System } from '../system/boot-system.ts';
import { type CpuTimes, cpuTimes } from '../system/cpu-times.ts';
import { listProcessTree } from '../system/process-tree.ts';
import { formatCount, formatCpu, formatLatency, line } from '../text.ts';
import { fillOldDeliveries, startDelivering, type Target } from './fill-deliveries.ts';
import { measureActs } from './measure-acts.ts';
import { type Neighbour, startNeighbour } from './neighbour.ts';

/** Nothing listens there, and no browser would ask it. */
export const DEAD_URL = 'http://127.0.0.1:2/';
/** Letters of the neighbour's events, one for each time that it is measured. */
const WARM_UP = 'm';
const FIRST = 'n';
const ROUNDS = [
  { quiet: 'i', beside: 'j' },
  { quiet: 'k', beside: 'l' },
  { quiet: 'o', beside: 'p' },
  { quiet: 'q', beside: 'r' },
];
/** After the account is suspended, or goes on. */
const SETTLES_MS = 1_500;

export interface Bench {
  sql: Sql;
  system: System;
  receiver: Receiver;
  options: BenchArguments;
}

interface Measured {
  latency: LatencySummary;
  /** Attempts at dead webhooks a second. */
  attempts: number;
  seconds: number;
  /** Processor time of the driver and the receiver as well. */
  cpu: CpuTimes;
}

interface Shape {
  letter: string;
  name: string;
  webhooks: number;
  /** The live webhook is of the same account as the dead ones. */
  isOwn: boolean;
}

export const SHAPES: readonly Shape[] = [
  { letter: 'n', name: 'another account beside 2 000 dead webhooks', webhooks: 2_000, isOwn: false },
  { letter: 'o', name: 'another account beside one dead webhook', webhooks: 1, isOwn: false },
  { letter: 'p', name: 'a live webhook beside one dead webhook of its account', webhooks: 1, isOwn: true },
];

/**
 * The latency of a live webhook beside dead ones with very many waiting deliveries: while these are
 * attempted for the first time, and then in rounds, in which the dead ones are held first.
 */
export async function besideDead({ sql, system, receiver, options }: Bench, shape: Shape) {
  const operator = createApiClient(system, system.adminKey);
  const { body } = createRequestTemplate(receiver.url, options.bodyBytes, ID_CHARS);
  const deadKey = await operator.createAccount(`dead ${shape.letter}`);
  const apiKey = shape.isOwn ? deadKey : await operator.createAccount(`neighbour ${shape.letter}`);
  const neighbour = await startNeighbour({ url: system.url, apiKey, receiver, body });
  await neighbour.measure(WARM_UP);
  const dead = await createDead(sql, system, { apiKey: deadKey, shape, waiting: options.waiting });
  const beganMs = machineMs();
  await fillOldDeliveries(sql, { ...dead, count: options.waiting, data: body(eventId('z', 0)) });
  await sql`vacuum analyze deliveries`;
  await sql`vacuum analyze events`;
  const filledMs = machineMs() - beganMs;
  const hold = async (isHeld: boolean) => {
    if (!shape.isOwn) await operator.suspend(dead.accountId, isHeld ? 'suspend' : 'resume');
    else await holdThem(sql, dead, isHeld);
    await sleep(SETTLES_MS);
  };
  await startDelivering(sql, dead);
  const measure = (phase: string) => measureOnce({ sql, neighbour, webhookIds: dead.webhookIds }, phase);
  const first = await measure(FIRST);
  const [quiet, beside]: [Measured[], Measured[]] = [[], []];
  for (const round of ROUNDS) {
    await hold(true);
    quiet.push(await measure(round.quiet));
    await hold(false);
    beside.push(await measure(round.beside));
  }
  const acts = await measureActs(
    { url: system.url, apiKey: deadKey, adminKey: system.adminKey },
    dead.webhookIds[0] ?? '',
  );
  const ratios = beside.map(({ latency }, nth) => latency.p99Ms / (quiet[nth]?.latency.p99Ms ?? 0));
  const text = [
    `deliver: ${shape.name}, ${formatCount(options.waiting)} waiting (filled in ${(filledMs / 1_000).toFixed(1)} s)`,
    ...format('first attempts', [first]),
    ...format('quiet', quiet),
    ...format('beside them', beside),
    line('ratios of the p99', ratios.map((ratio) => ratio.toFixed(2)).join(', ')),
    ...acts.map(({ name, ms }) => line(name, `${ms.toFixed(0)} ms`)),
  ];
  return { name: shape.name, first, quiet, beside, ratios, acts, text };
}

/** As a change of the webhook does, without a drain at its end. */
async function holdThem(sql: Sql, dead: Target, isHeld: boolean): Promise<void> {
  for (const id of dead.webhookIds) {
    await sql`update webhooks set active = ${!isHeld} where id = ${id}`;
    await sql`select pg_notify(${WEBHOOK_CHANGED_CHANNEL}, ${id})`;
  }
  if (!isHeld) await startDelivering(sql, dead);
}

interface Creating {
  apiKey: string;
  shape: Shape;
  waiting: number;
}

async function createDead(sql: Sql, system: System, { apiKey, shape, waiting }: Creating): Promise<Target> {
  const response = await fetch(`${system.url}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: DEAD_URL }),
  });
  const { id } = ((await response.json()) as { data: { id: string } }).data;
  const copies = Array.from({ length: shape.webhooks - 1 }, () => newId('webhook'));
  await sql`
    insert into webhooks select (jsonb_populate_record(w, jsonb_build_object('id', c.id))).*
    from webhooks w cross join unnest(${copies}::text[]) as c(id) where w.id = ${id}`;
  // Its live webhook has room beside what waits.
  const limits = JSON.stringify({ maxWebhooks: 2 * shape.webhooks + 2, maxQueuedDeliveries: 4 * waiting });
  const [row] = await sql<{ accountId: string }[]>`
    update accounts set limits = limits || ${limits}::text::jsonb
    where id = (select account_id from webhooks where id = ${id}) returning id as "accountId"`;
  const accountId = row?.accountId ?? '';
  await sql`select pg_notify(${ACCOUNT_CHANGED_CHANNEL}, ${accountId})`;
  return { accountId, webhookIds: [id, ...copies] };
}

interface Measuring {
  sql: Sql;
  neighbour: Neighbour;
  /** The dead ones. */
  webhookIds: readonly string[];
}

async function measureOnce({ sql, neighbour, webhookIds }: Measuring, phase: string): Promise<Measured> {
  const attempts = async () => {
    const [row] = await sql<{ made: number }[]>`
      select coalesce(sum(jsonb_array_length(attempts)), 0)::int4 as made from deliveries
      where webhook_id = any(${[...webhookIds]}::text[])`;
    return row?.made ?? 0;
  };
  const before = await attempts();
  const processes = listProcessTree(process.pid);
  const beganMs = machineMs();
  const latency = await neighbour.measure(phase);
  const seconds = (machineMs() - beganMs) / 1_000;
  const cpu = cpuTimes(processes, listProcessTree(process.pid));
  return { latency, seconds, cpu, attempts: ((await attempts()) - before) / seconds };
}

function format(name: string, all: readonly Measured[]): string[] {
  return all.flatMap(({ latency, attempts, cpu, seconds }, nth) => [
    line(nth === 0 ? name : '', `${formatLatency(latency)}, ${formatCount(attempts)} attempts a second`),
    line('  CPU, µs a second', formatCpu(cpu, seconds)),
  ]);
}
