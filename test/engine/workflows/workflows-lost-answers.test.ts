import { ACCOUNT_LIMITS, newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Principal } from '../../../engine/src/contract/base.ts';
import type { Sources } from '../../../engine/src/contract/engine.ts';
import { createWorkflow } from '../../../engine/src/workflows/change-workflow.sql.ts';
import type { Database, Sql } from '../../../engine/src/db/database.ts';
import { withSources } from '../../../engine/src/workflows/deploy-sources.ts';
import type { Trigger } from '../../../engine/src/workflows/deployment.ts';
import { type CutOffDatabase, startCutOffDatabase } from '../../support/cut-off-database.ts';
import type { CuttingProxy } from '../../support/cutting-proxy.ts';
import type { TestDatabase } from '../../support/database.ts';
import { testLog } from '../../support/logs.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

let world: CutOffDatabase;
let database: TestDatabase;
let proxy: CuttingProxy;
let cutOff: Database;
let who: Principal;
let deleted: string[];

beforeAll(async () => {
  world = await startCutOffDatabase();
  ({ database } = world);
});
afterAll(() => world.stop());
beforeEach(async () => {
  ({ proxy, cutOff } = await world.connect());
  const accountId = await insertAccount(database.db.sql);
  who = { accountId, userId: accountId } as Principal;
  deleted = [];
});

const limits = Object.fromEntries(
  Object.entries(ACCOUNT_LIMITS).map(([name, { default: value }]) => [name, value]),
) as never;

/** Stores a version of a workflow with a source of its own. */
function deploy(sql: Sql, store: (workflow: Parameters<typeof createWorkflow>[1]) => Promise<void>) {
  const sources = {
    create: async () => ({ id: await insertSource(database.db.sql, who.accountId) }),
    delete: async (_: Principal, id: string) => void deleted.push(id),
  } as unknown as Sources;
  const planned = { type: 'deploy' as const, source: {}, path: 'triggers.0', eventName: '' } as never;
  const id = newId('deployment');
  const done = withSources({ db: { sql }, sources, log: testLog }, who, { id, triggers: [planned] }, (triggers) =>
    store(workflowOf(id, triggers)),
  );
  return { id, done };
}

function workflowOf(id: string, triggers: Trigger[]): Parameters<typeof createWorkflow>[1] {
  const { accountId, userId } = who;
  const settings = { memoryMb: 64, retries: 0, autoDeploy: true } as never;
  const deployment = { id, workflowId: newId('workflow'), accountId, version: 1, triggers, steps: [], settings };
  return { userId, name: 'W', nameSlug: `w-${id}`, active: true, deployment };
}

const isThere = async (id: string) => (await database.db.sql`select from deployments where id = ${id}`).length === 1;

test('a version of which the answer to the commit is lost is deployed, with its sources', async () => {
  const { id, done } = deploy(cutOff.sql, async (workflow) => {
    proxy.cutAt('commit');
    await createWorkflow(cutOff.sql, workflow, limits).finally(proxy.pass);
  });
  await done;
  expect([await isThere(id), deleted]).toEqual([true, []]);
});

test('the sources of a version whose commit was lost on its way are taken back', async () => {
  const { id, done } = deploy(cutOff.sql, async (workflow) => {
    proxy.cutAt('commit', false);
    await createWorkflow(cutOff.sql, workflow, limits).finally(proxy.pass);
  });
  await expect(done).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
  expect([await isThere(id), deleted.length]).toEqual([false, 1]);
});

test('a version whose commit is still under way when its connection is lost is waited for', async () => {
  const { sql } = database.db;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  let committed: Promise<unknown> | undefined;
  const { id, done } = deploy(sql, async (workflow) => {
    await new Promise<void>((resolve) => {
      committed = sql.begin(async (tx) => {
        await createWorkflow({ begin: (work: (_: typeof tx) => unknown) => work(tx) } as never, workflow, limits);
        resolve();
        await ended;
      });
    });
    setTimeout(end, 200);
    throw Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' });
  });
  await done;
  await committed;
  expect([await isThere(id), deleted]).toEqual([true, []]);
});

test('if the database does not confirm that a version is stored, its sources are kept', async () => {
  const silent = { begin: () => Promise.reject(new Error('no')) } as never;
  const { done } = deploy(silent, () =>
    Promise.reject(Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' })),
  );
  await expect(done).rejects.toThrow('lost');
  expect(deleted).toEqual([]);
});
