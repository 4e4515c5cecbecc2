import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@headwater/shared';
import type { Sql } from '../../../engine/src/db/database.ts';
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
import { fillDeliveries, startDelivering, type Target } from './fill-deliveries.ts';
import { type Neighbour, startNeighbour } from './neighbour.ts';

const DEAD_WEBHOOKS = 2_000;
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

/**
 * Another account's latency beside 2 000 dead webhooks with a case's waiting deliveries: while all
 * of them are attempted for the first time, and then in rounds, in which their account is suspended
 * first.
 */
export async function besideDead({ sql, system, receiver, options }: Bench) {
  const operator = createApiClient(system, system.adminKey);
  const { body } = createRequestTemplate(receiver.url, options.bodyBytes, ID_CHARS);
  const apiKey = await operator.createAccount('neighbour');
  const neighbour = await startNeighbour({ url: system.url, apiKey, receiver, body });
  await neighbour.measure(WARM_UP);
  const dead = await createDead(sql, system, await operator.createAccount('dead'));
  const bodies = Array.from({ length: options.events }, (_, n) => body(eventId('z', n)));
  await fillDeliveries(sql, dead, bodies);
  await sql`analyze deliveries, events`;
  const suspend = async (action: 'suspend' | 'resume') => {
    await operator.suspend(dead.accountId, action);
    await sleep(SETTLES_MS);
  };
  await startDelivering(sql, dead);
  const measure = (phase: string) => measureOnce({ sql, neighbour, accountId: dead.accountId }, phase);
  const first = await measure(FIRST);
  const [quiet, beside]: [Measured[], Measured[]] = [[], []];
  for (const round of ROUNDS) {
    await suspend('suspend');
    quiet.push(await measure(round.quiet));
    await suspend('resume');
    beside.push(await measure(round.beside));
  }
  const ratios = beside.map(({ latency }, nth) => latency.p99Ms / (quiet[nth]?.latency.p99Ms ?? 0));
  const text = [
    `deliver: another account beside ${formatCount(DEAD_WEBHOOKS)} dead webhooks, ${formatCount(options.events)} waiting`,
    ...format('first attempts', [first]),
    ...format('quiet', quiet),
    ...format('beside them', beside),
    line('ratios of the p99', ratios.map((ratio) => ratio.toFixed(2)).join(', ')),
  ];
  return { first, quiet, beside, ratios, text };
}

async function createDead(sql: Sql, system: System, apiKey: string): Promise<Target> {
  const limits = JSON.stringify({ maxWebhooks: DEAD_WEBHOOKS });
  await sql`update accounts set limits = limits || ${limits}::text::jsonb where name = 'dead'`;
  const response = await fetch(`${system.url}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: DEAD_URL }),
  });
  const { id } = ((await response.json()) as { data: { id: string } }).data;
  const copies = Array.from({ length: DEAD_WEBHOOKS - 1 }, () => newId('webhook'));
  const [row] = await sql<{ accountId: string }[]>`
    insert into webhooks select (jsonb_populate_record(w, jsonb_build_object('id', c.id))).*
    from webhooks w cross join unnest(${copies}::text[]) as c(id) where w.id = ${id}
    returning account_id as "accountId"`;
  return { accountId: row?.accountId ?? '', webhookIds: [id, ...copies] };
}

interface Measuring {
  sql: Sql;
  neighbour: Neighbour;
  /** The account of the dead webhooks. */
  accountId: string;
}

async function measureOnce({ sql, neighbour, accountId }: Measuring, phase: string): Promise<Measured> {
  const attempts = async () => {
    const [row] = await sql<{ made: number }[]>`
      select sum(attempt_count)::int4 as made from deliveries where account_id = ${accountId}`;
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
