import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '@headwater/shared';
import type { TransactionSql } from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { blockedBy } from '../../support/blocked-backends.ts';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { post } from '../../support/server.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

/*
 * Executions of several tenants end, or begin to wait, on one node, while another transaction has
 * locked invocations of one of them.
 */

let hw: Headwater;
let neighbourId: string;
beforeAll(async () => {
  hw = await sharedHeadwater();
  neighbourId = (await hw.admin('POST', '/accounts', { name: 'neighbour' })).data.id as string;
});
afterAll(() => hw.stop());

const EXECUTIONS = 5;
const STEP_MS = 500;
/** Long before the lock would be taken from its holder. */
const SOON_MS = LIMITS.databaseSilenceMs / 10;

async function flow(accountId: string, code: string): Promise<{ id: string; endpoint: string }> {
  const steps = [{ namespace: 'only', code: action(code) }];
  const { id, endpointKey } = await insertWorkflow(hw.sql, { accountId, steps });
  return { id, endpoint: `${hw.url}/e/${endpointKey}` };
}

async function startAll(endpoint: string): Promise<void> {
  const answers = await Promise.all(Array.from({ length: EXECUTIONS }, () => post(endpoint, {})));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
}

const countOf = async (id: string, status: string) =>
  (await hw.sql`select from executions where workflow_id = ${id} and status = ${status}`).length;

/** Number of runs of each step. */
async function runsOf(id: string): Promise<number[]> {
  const rows = await hw.sql<{ runs: number }[]>`
    select s.runs from execution_steps s join executions e on e.id = s.execution_id where e.workflow_id = ${id}`;
  return rows.map(({ runs }) => runs);
}

/** As a deletion of very much does, or the end of one on another node. */
async function whileHeld(id: string, work: (tx: TransactionSql) => Promise<void>): Promise<void> {
  await hw.sql.begin(async (tx) => {
    const held = await tx`select from invocations where source_id = ${id} and leased_by is not null for update`;
    expect(held).toHaveLength(EXECUTIONS);
    await work(tx as unknown as TransactionSql);
  });
}

const slow = `await new Promise((done) => setTimeout(done, ${STEP_MS}));`;

it.each([
  ['end', 'return 1;', 'succeeded'],
  ['begin to wait', '$.flow.delay(60 * 60 * 1000);', 'waiting'],
])(
  'those of the neighbour %s meanwhile, and the locked ones are written once, when the lock ends',
  async (_, code, status) => {
    const heldUp = await flow(hw.accountId, `${slow} ${code}`);
    const neighbour = await flow(neighbourId, code);
    await startAll(neighbour.endpoint);
    await eventually(async () => (await countOf(neighbour.id, status)) === EXECUTIONS);
    await startAll(heldUp.endpoint);
    await whileHeld(heldUp.id, async (tx) => {
      await eventually(async () => (await blockedBy(tx)).length > 0, { what: 'a commit to be held up' });
      await startAll(neighbour.endpoint);
      const theirs = { what: 'the executions of the neighbour', timeoutMs: SOON_MS };
      await eventually(async () => (await countOf(neighbour.id, status)) === 2 * EXECUTIONS, theirs);
      // They come again beside the others, and wait as long as it takes.
      await sleep(2 * STEP_MS);
      expect(await countOf(heldUp.id, status)).toBe(0);
    });
    await eventually(async () => (await countOf(heldUp.id, status)) === EXECUTIONS);
    expect(await runsOf(heldUp.id)).toEqual(Array.from({ length: EXECUTIONS }, () => 1));
    expect(await runsOf(neighbour.id)).toEqual(Array.from({ length: 2 * EXECUTIONS }, () => 1));
  },
);
