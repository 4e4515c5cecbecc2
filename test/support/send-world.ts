import { randomBytes } from 'node:crypto';
import { newId, accountLimits, type AccountLimits, createActiveTenants } from '@headwater/shared';
import { pino } from 'pino';
import type { AttemptRecord, Principal } from '../../engine/src/contract/engine.ts';
import type { Sends } from '../../engine/src/contract/sends.ts';
import { createRetryPolicy, type RetryOptions } from '../../engine/src/outbox/retry-policy.ts';
import { createEgress, type EgressOptions } from '../../engine/src/egress/egress.ts';
import { createGuestFetch } from '../../engine/src/egress/guest-fetch.ts';
import { startJobRunner } from '../../engine/src/db/jobs/job-runner.ts';
import { type SendPayload, TASKS } from '../../engine/src/db/jobs/tasks.ts';
import { fixedKeys, type MasterKeys } from '../../engine/src/secrets/master-key.ts';
import { createRedactor, type SecretValue } from '../../engine/src/secrets/redactor.ts';
import { createSealer, type Sealer } from '../../engine/src/secrets/seal.ts';
import { assembleSends } from '../../engine/src/composition/assemble-sends.ts';
import type { MailOptions } from '../../engine/src/outbox/transports/email/mailer.ts';
import { contentOf, type NewSend } from '../../engine/src/outbox/sends/new-send.ts';
import type { SendRunner } from '../../engine/src/outbox/sends/send-runner.ts';
import { addJobs } from '../../engine/src/db/jobs/add-jobs.ts';
import { insertSends, sendLanesOf } from '../../engine/src/outbox/sends/insert-sends.sql.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { eventually } from './eventually.ts';

interface SendRowState {
  id: string;
  status: string;
  attempt_count: number;
  attempts: AttemptRecord[];
  payload: string;
  sealed: string | null;
  object_key: string | null;
  leased_by: string | null;
  due_in_seconds: number;
}

export interface SendNode {
  sends: Sends;
  runner: SendRunner;
}

export interface SendWorld {
  database: TestDatabase;
  sealer: Sealer;
  keys: MasterKeys;
  account(options?: { email?: string }): Promise<Principal>;
  /** As the commit that ends an execution stores it. Answers the sends' ids. */
  send(
    who: Principal,
    kind: NewSend['kind'],
    payloads: readonly unknown[],
    options?: { executionId?: string; secrets?: SecretValue[]; nowMs?: number },
  ): Promise<string[]>;
  /** A node. It attempts only sends from `runLane`, unless `lanes` is set. */
  node(options?: {
    id?: string;
    mail?: MailOptions;
    retry?: RetryOptions;
    limits?: Partial<AccountLimits>;
    lanes?: boolean;
    drainMs?: number;
    allow?: string[];
    egress?: Partial<EgressOptions>;
    spans?: Parameters<typeof assembleSends>[0]['spans'];
  }): Promise<SendNode>;
  row(id: string): Promise<SendRowState>;
  /** Resolves with the row once it is no longer pending, or has this many attempts. */
  ended(id: string, attempts?: number): Promise<SendRowState>;
  stop(): Promise<void>;
}

export async function createSendWorld(): Promise<SendWorld> {
  const database = await createTestDatabase();
  const { sql } = database.db;
  const keys = fixedKeys([{ id: 'test', key: randomBytes(32) }]);
  const sealer = createSealer(keys);
  const log = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' });
  const stops: (() => Promise<void>)[] = [];

  const world: SendWorld = {
    database,
    sealer,
    keys,
    async account({ email } = {}) {
      const who = { accountId: newId('account'), userId: newId('user') };
      await sql`insert into accounts (id, name) values (${who.accountId}, 'test')`;
      await sql`
        insert into users (id, account_id, username, email) values (${who.userId}, ${who.accountId}, 'test', ${email ?? null})`;
      return who;
    },
    async send({ accountId }, kind, payloads, options = {}) {
      const { executionId = newId('execution'), secrets = [], nowMs = Date.now() } = options;
      const redactor = createRedactor(secrets);
      const base = { accountId, executionId, workflowId: newId('workflow'), traceId: executionId, kind };
      const sends: NewSend[] = [];
      for (const payload of payloads) {
        const content = await contentOf(sealer, accountId, redactor, JSON.stringify(payload));
        sends.push({ ...base, id: newId('send'), ...content });
      }
      await sql.begin(async (tx) => {
        await insertSends(tx, sends, nowMs);
        await addJobs(tx, sendLanesOf(sends, nowMs));
      });
      return sends.map(({ id }) => id).toSorted();
    },
    async node({
      id = 'node_test',
      mail,
      retry = {},
      limits = {},
      lanes = false,
      drainMs,
      allow = ['127.0.0.0/8'],
      egress: more = {},
      spans,
    } = {}) {
      const egress = createEgress({ allow, deniedPorts: () => [], ...more });
      const guestFetch = createGuestFetch({ egress });
      const all = accountLimits(limits);
      const made = assembleSends(
        {
          sql,
          node: { id: () => id },
          sealer,
          egress,
          guestFetch,
          spans,
          activeTenants: createActiveTenants(),
          retryPolicy: createRetryPolicy({ random: () => 0.5, ...retry }),
          limits: { get: () => all, isSuspended: () => false },
        },
        { mail, log, ...(drainMs === undefined ? {} : { drainMs }) },
      );
      const { sends, sendRunner: runner } = made;
      stops.push(guestFetch.stop, runner.stop);
      if (lanes) {
        const jobs = await startJobRunner({
          databaseUrl: database.url,
          tasks: { [TASKS.send]: (payload) => runner.runLane(payload as SendPayload) },
          onPool: () => undefined,
          log,
        });
        stops.push(jobs.stop);
      }
      return { sends, runner };
    },
    async row(id) {
      const [row] = await sql<SendRowState[]>`
        select id, status, attempt_count, attempts, payload, sealed, object_key, leased_by,
          extract(epoch from next_attempt_at - now())::float8 as due_in_seconds
        from sends where id = ${id}`;
      if (row === undefined) throw new Error(`There is no send ${id}`);
      return row;
    },
    ended: (id, attempts = Number.POSITIVE_INFINITY) =>
      eventually(
        async () => {
          const row = await world.row(id);
          return (row.status !== 'pending' || row.attempt_count >= attempts) && row;
        },
        { what: `the end of ${id}` },
      ),
    async stop() {
      for (const stop of stops.splice(0).toReversed()) await stop();
      await database.drop();
    },
  };
  return world;
}
