import { randomBytes } from 'node:crypto';
import { accountLimits, type AccountLimits, newId } from '@headwater/shared';
import { pino } from 'pino';
import type { DeliveryAttempt } from '../../engine/src/contract/deliveries.ts';
import type { Principal, WebhookCreate, WebhookRecord } from '../../engine/src/contract/engine.ts';
import {
  createDeliverer,
  type Deliverer,
  type DelivererOptions,
} from '../../engine/src/outbox/deliveries/deliverer.ts';
import type { DueDelivery } from '../../engine/src/outbox/deliveries/due-delivery.ts';
import { createRetryPolicy, type RetryOptions } from '../../engine/src/outbox/retry-policy.ts';
import { createWebhooks } from '../../engine/src/outbox/webhooks/webhooks.ts';
import { createEgress } from '../../engine/src/egress/egress.ts';
import { type JobRunner, startJobRunner } from '../../engine/src/db/jobs/job-runner.ts';
import { type DeliverAccountPayload, type DeliverWebhookPayload, TASKS } from '../../engine/src/db/jobs/tasks.ts';
import { fixedKeys } from '../../engine/src/secrets/master-key.ts';
import { createSealer, type Sealer } from '../../engine/src/secrets/seal.ts';
import { roomWith } from './account-room.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

interface DeliveryRowState {
  id: string;
  status: string;
  attempt_count: number;
  attempts: DeliveryAttempt[];
  error_class: string | null;
  leased_by: string | null;
  due_in_seconds: number;
}

/**
 * Everything deliveries need, without runs: accounts, webhooks, and events with their deliveries as
 * a run's commit makes them.
 */
export interface DeliveryWorld {
  database: TestDatabase;
  sealer: Sealer;
  account(): Promise<Principal>;
  webhook(who: Principal, input: WebhookCreate): Promise<WebhookRecord>;
  /** `leasedBy` null: waiting for any node. */
  emit(
    webhook: WebhookRecord,
    who: Principal,
    count: number,
    leasedBy: string | null,
    event?: Partial<EventInput>,
  ): Promise<DueDelivery[]>;
  deliverer(options: Partial<DelivererOptions> & { node: string; retry?: RetryOptions }): Deliverer;
  /** Works on lane jobs as an engine node does. */
  runLanes(deliverer: Deliverer): Promise<JobRunner>;
  rows(webhookId: string): Promise<DeliveryRowState[]>;
  jobKeys(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Accounts that all have the same limits, known from the start. */
export function limitsOf(set: Partial<AccountLimits>): DelivererOptions['accountLimits'] {
  const limits = accountLimits(set);
  return { known: () => limits, get: () => limits, isSuspended: () => false };
}

interface EventInput {
  data: string;
  channel: string;
  ts: number;
}

export async function createDeliveryWorld(options: { maxConnections?: number } = {}): Promise<DeliveryWorld> {
  const database = await createTestDatabase(options);
  const { sql } = database.db;
  const sealer = createSealer(fixedKeys([{ id: 'test', key: randomBytes(32) }]));
  const webhooks = createWebhooks({ db: database.db, sealer, room: roomWith() });
  const log = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' });
  const stops: (() => Promise<void>)[] = [];
  let seq = 0;

  async function account(): Promise<Principal> {
    const who = { accountId: newId('account'), userId: newId('user') };
    await sql`insert into accounts (id, name) values (${who.accountId}, 'test')`;
    await sql`insert into users (id, account_id, username) values (${who.userId}, ${who.accountId}, 'test')`;
    return who;
  }

  async function emit(
    webhook: WebhookRecord,
    who: Principal,
    count: number,
    leasedBy: string | null,
    event: Partial<EventInput> = {},
  ): Promise<DueDelivery[]> {
    const emitterId = newId('source');
    const nowMs = Date.now();
    const [sealed] = await sql<{ secret: string }[]>`select secret from webhooks where id = ${webhook.id}`;
    const due = Array.from(
      { length: count },
      (): DueDelivery => ({
        id: newId('delivery'),
        accountId: who.accountId,
        webhookId: webhook.id,
        url: webhook.url,
        sealedSecret: sealed?.secret ?? '',
        format: webhook.format,
        emitterId,
        indexedAtMs: nowMs,
        seq: seq++,
        channel: event.channel ?? '',
        data: event.data ?? `{"n":${seq}}`,
        ...(event.ts === undefined ? {} : { ts: event.ts }),
        attemptCount: 0,
      }),
    );
    await sql`
      insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, ts, data)
      select * from unnest(
        ${due.map((d) => d.emitterId)}::text[], ${due.map((d) => d.indexedAtMs)}::int8[], ${due.map((d) => d.seq)}::int4[],
        ${due.map((d) => d.accountId)}::text[], ${due.map((d) => d.channel)}::text[], ${due.map((d) => d.ts ?? null)}::int8[],
        ${due.map((d) => d.data)}::text[])`;
    await sql`
      insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, leased_by)
      select *, ${leasedBy}::text from unnest(
        ${due.map((d) => d.id)}::text[], ${due.map((d) => d.accountId)}::text[], ${due.map((d) => d.webhookId)}::text[],
        ${due.map((d) => d.emitterId)}::text[], ${due.map((d) => d.indexedAtMs)}::int8[], ${due.map((d) => d.seq)}::int4[])`;
    return due;
  }

  function deliverer({ node, retry, ...more }: Parameters<DeliveryWorld['deliverer']>[0]): Deliverer {
    const made = createDeliverer({
      db: database.db,
      nodeId: () => node,
      sealer,
      egress: createEgress({ allow: ['127.0.0.0/8'], deniedPorts: () => [] }),
      retryPolicy: createRetryPolicy({ random: () => 0.5, ...retry }),
      log,
      accountLimits: limitsOf({}),
      ...more,
    });
    stops.push(made.stop);
    return made;
  }

  return {
    database,
    sealer,
    account,
    webhook: (who, input) => webhooks.create(who, input),
    emit,
    deliverer,
    async runLanes(made) {
      const runner = await startJobRunner({
        databaseUrl: database.url,
        tasks: {
          [TASKS.deliverWebhook]: (payload) => made.runLane(payload as DeliverWebhookPayload),
          [TASKS.deliverAccount]: (payload) => made.runAccountLane(payload as DeliverAccountPayload),
        },
        onPool: () => undefined,
        log,
      });
      stops.push(runner.stop);
      return runner;
    },
    rows: (webhookId) => sql<DeliveryRowState[]>`
      select id, status, attempt_count, attempts, error_class, leased_by,
        extract(epoch from next_attempt_at - now())::float8 as due_in_seconds
      from deliveries where webhook_id = ${webhookId} order by id`,
    async jobKeys() {
      const jobs = await sql<
        { key: string }[]
      >`select key from graphile_worker.jobs where key is not null order by key`;
      return jobs.map((job) => job.key);
    },
    async stop() {
      for (const stop of stops.splice(0).toReversed()) await stop();
      await database.drop();
    },
  };
}
