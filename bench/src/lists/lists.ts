import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { newId } from '@headwater/shared';
import { pino } from 'pino';
import { openDatabase, type Sql } from '../../../engine/src/db/database.ts';
import { migrate } from '../../../engine/src/db/server/migrate.ts';
import { prepareDatabase } from '../../../engine/src/db/server/prepare-database.ts';
import { type DeliveryQuery, pageDeliveries } from '../../../engine/src/outbox/deliveries/page-deliveries.sql.ts';
import { readWebhookHealth } from '../../../engine/src/outbox/webhooks/read-webhook-health.sql.ts';
import type { BenchArguments } from '../arguments.ts';
import { createLatencies, type LatencySummary } from '../load/latencies.ts';
import { describeMachine } from '../machine.ts';
import { formatCount, formatLatency, formatMachine } from '../text.ts';
import type { Undo } from '../undo.ts';

const WEBHOOKS = 100;
/** Another account has so many. */
const MANY_WEBHOOKS = 2_000;
const SAMPLES = 100;
const FILLED_AT_ONCE = 50_000;
const WARM_UPS = 5;
const PAGE = { limit: 20 };
const DAY_MS = 86_400_000;

interface Measured {
  name: string;
  latency: LatencySummary;
  /** Mean time of the database's process on a core, which other work does not change. */
  cpuMs: number;
}

/**
 * Lists, filters and stats of deliveries, with many of them in the table. One webhook has half of
 * all; two of a hundred have failed, and one waits. Each is measured alone, on one connection.
 */
export async function benchLists(undo: Undo, options: BenchArguments): Promise<boolean> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'headwater-bench-lists-'));
  undo.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const log = pino({ level: 'warn' });
  const server = await prepareDatabase({ dataDir, log });
  undo.push(() => server.stop());
  await migrate({ url: server.url, log });
  const db = openDatabase({ url: server.url, maxConnections: 1 });
  undo.push(() => db.close());
  const filled = await fill(db.sql, WEBHOOKS, options.deliveries);
  const many = await fill(db.sql, MANY_WEBHOOKS, options.deliveries);
  const machine = describeMachine();
  if (!options.json) console.log(`${formatMachine(machine)}\n${formatCount(options.deliveries)} deliveries`);
  const results: Measured[] = [];
  const [backend] = await db.sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const pid = backend?.pid ?? 0;
  for (const [name, work] of [...worksOf(db.sql, filled), ...worksOfMany(db.sql, many)]) {
    const beganMs = cpuMsOf(pid);
    const latency = await measure(work);
    const result = { name, latency, cpuMs: (cpuMsOf(pid) - beganMs) / (WARM_UPS + SAMPLES) };
    results.push(result);
    if (!options.json) console.log(format(result));
  }
  if (options.json) console.log(JSON.stringify({ machine, options, results }, undefined, 2));
  return true;
}

const format = ({ name, latency, cpuMs }: Measured) =>
  `  ${name.padEnd(44)}${formatLatency(latency)}, CPU ${cpuMs.toFixed(1)} ms`;

/** Linux counts it in nanoseconds. */
function cpuMsOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000_000;
}

async function measure(work: () => Promise<unknown>): Promise<LatencySummary> {
  const latencies = createLatencies();
  for (let nth = 0; nth < WARM_UPS + SAMPLES; nth++) {
    const beganMs = performance.now();
    await work();
    if (nth >= WARM_UPS) latencies.record(performance.now() - beganMs);
  }
  return latencies.summary();
}

interface Filled {
  accountId: string;
  /** It has half of all deliveries. */
  largeId: string;
  smallId: string;
  emitterId: string;
  firstMs: number;
  lastMs: number;
}

async function fill(sql: Sql, webhooks: number, deliveries: number): Promise<Filled> {
  const [accountId, emitterId] = [newId('account'), newId('source')];
  const ids = Array.from({ length: webhooks }, () => newId('webhook'));
  const lastMs = Date.now();
  const firstMs = lastMs - DAY_MS;
  const stepMs = DAY_MS / deliveries;
  // Ids begin with their time, as those of the engine do.
  const floors = Array.from({ length: 1_000 }, (_, n) =>
    newId('delivery', firstMs + (n * DAY_MS) / 1_000).slice(0, 13),
  );
  await sql`insert into accounts (id, name) values (${accountId}, 'bench')`;
  await sql`insert into users (id, account_id, username) values (${accountId}, ${accountId}, 'bench')`;
  await sql`
    insert into webhooks (id, account_id, user_id, url, format, secret)
    select id, ${accountId}, ${accountId}, 'http://127.0.0.1:2/', 'raw', 'sealed' from unnest(${ids}::text[]) as h(id)`;
  const attempts = (status: number) =>
    JSON.stringify([{ at: new Date(firstMs).toISOString(), trigger: 'first', status_code: status, duration_ms: 12 }]);
  for (let first = 0; first < deliveries; first += FILLED_AT_ONCE) {
    await sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status, attempt_count,
      next_attempt_at, error_class, attempts)
    select (${floors}::text[])[1 + n * 1000 / ${deliveries}::int8] || lpad(n::text, 11, '0'), ${accountId},
      (${ids}::text[])[case when n % 2 = 0 then 1 else 2 + n / 2 % ${webhooks - 1}::int4 end], ${emitterId},
      ${firstMs}::int8 + (n * ${stepMs}::float8)::int8, 0,
      case when n % 100 < 2 then 'failed' when n % 100 = 2 then 'pending' else 'delivered' end, 1,
      now() + make_interval(secs => n % 1000), case when n % 100 < 2 then 'http_5xx' end,
      case when n % 100 < 2 then ${attempts(500)}::text::jsonb else ${attempts(200)}::text::jsonb end
    from generate_series(${first}::int8, ${Math.min(first + FILLED_AT_ONCE, deliveries) - 1}::int8) n`;
  }
  await sql`vacuum analyze deliveries`;
  return { accountId, largeId: ids[0] ?? '', smallId: ids[7] ?? '', emitterId, firstMs, lastMs };
}

function worksOf(sql: Sql, filled: Filled): [string, () => Promise<unknown>][] {
  const { accountId, largeId, smallId, emitterId, firstMs, lastMs } = filled;
  const pages =
    (query: Omit<DeliveryQuery, 'accountId'>, page: object = {}) =>
    () =>
      pageDeliveries(sql, { accountId, ...query }, { ...PAGE, ...page });
  const stats = (webhookId: string) => () => readWebhookHealth(sql, { accountId, webhookId, sinceMs: firstMs });
  const [since, until] = [new Date(firstMs + DAY_MS / 2), new Date(firstMs + DAY_MS / 2 + 60_000)];
  return [
    ['a page of a webhook', pages({ webhookId: largeId })],
    ['a page of the account', pages({})],
    ['failed ones of a webhook', pages({ webhookId: largeId, statuses: ['failed'] })],
    ['failed ones of the account', pages({ statuses: ['failed'] })],
    ['those that wait of a webhook', pages({ webhookId: largeId, statuses: ['pending'] })],
    ['of a minute of the day, of a webhook', pages({ webhookId: largeId, since, until })],
    ['of a minute of the day, of the account', pages({ since, until })],
    ['by the class of the error, of a webhook', pages({ webhookId: largeId, errorClasses: ['http_5xx'] })],
    ['by a class that none has, of a webhook', pages({ webhookId: largeId, errorClasses: ['timeout'] })],
    ['by a text that none has, of a webhook', pages({ webhookId: smallId, text: 'absent' })],
    ['of one event', pages({ emitId: `${emitterId}-${lastMs - 1_000}-0` })],
    ['stats of a webhook', stats(smallId)],
    ['stats of the webhook with half of all', stats(largeId)],
  ];
}

function worksOfMany(sql: Sql, { accountId }: Filled): [string, () => Promise<unknown>][] {
  const pages = (query: Omit<DeliveryQuery, 'accountId'>) => () => pageDeliveries(sql, { accountId, ...query }, PAGE);
  const of = `of ${formatCount(MANY_WEBHOOKS)} webhooks`;
  return [
    [`a page, ${of}`, pages({})],
    [`failed ones, ${of}`, pages({ statuses: ['failed'] })],
    [`those that wait, ${of}`, pages({ statuses: ['pending'] })],
    [`by a class that none has, ${of}`, pages({ errorClasses: ['timeout'] })],
  ];
}
