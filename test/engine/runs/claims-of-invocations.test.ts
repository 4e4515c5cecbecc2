import { newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunCommit } from '../../../engine/src/runs/commit/commit-plan.ts';
import { createJobCrowds } from '../../../engine/src/db/jobs/job-crowds.ts';
import { createHeldClaims } from '../../../engine/src/runs/held-claims.ts';
import type { HeldInvocation } from '../../../engine/src/events/invocation.ts';
import { claimInvocations, insertInvocations, releaseInvocations } from '../../../engine/src/runs/invocations.sql.ts';
import { commitExecutions } from '../../../engine/src/runs/commit/commit-executions.sql.ts';
import { commitRuns } from '../../../engine/src/runs/commit/commit-runs.sql.ts';
import { parkExecutions } from '../../../engine/src/workflows/run/park-executions.sql.ts';
import type { ExecutionCommit } from '../../../engine/src/runs/commit/execution-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { DONE_STEP, readSteps } from '../../support/executions.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

let test: TestDatabase;
let accountId: string;
let sourceId: string;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  accountId = await insertAccount(test.db.sql);
  sourceId = await insertSource(test.db.sql, accountId);
});

/** A row that `node` has, by its claim of this number. */
async function leased(kind: 'invocation' | 'execution', node: string, claim: number): Promise<string> {
  const id = newId(kind);
  await test.db.sql`
    insert into invocations (id, account_id, source_id, kind, event, attempts, leased_by, claim)
    values (${id}, ${accountId}, ${sourceId}, 'http', '{}', 1, ${node}, ${claim})`;
  return id;
}

const commitOf = (id: string, leasedBy: string, claim: number, position = 0): ExecutionCommit => ({
  key: { id, accountId, workflowId: sourceId, deploymentId: 'd_1' },
  lease: { leasedBy, claim },
  steps: [{ ...DONE_STEP, position, value: `"${leasedBy} ${claim}"` }],
  endsWait: false,
  start: { kind: 'http', event: '{}', context: '{}', causedBy: undefined, traceId: id, startedAtMs: 1 },
});
const END = { status: 'succeeded' as const, endedAtMs: 2 };
const valuesOf = async (id: string) => (await readSteps(test.db.sql, id)).map(({ value }) => value);

describe('an execution', () => {
  it('takes no step, wait or end of a claim of the same node that is over', async () => {
    const { sql } = test.db;
    const id = await leased('execution', 'node_a', 3);
    const old = commitOf(id, 'node_a', 2);
    const wait = { kind: 'delay' as const, position: 0, runs: 1, failures: 0, token: 't', wakeAtMs: 1, bytes: 1 };
    expect(await commitExecutions(sql, [old])).toEqual(new Set());
    expect(await parkExecutions(sql, [{ ...old, wait }], createJobCrowds())).toEqual(new Set());
    expect(await commitExecutions(sql, [{ ...old, end: END }])).toEqual(new Set());
    expect(await valuesOf(id)).toEqual([]);
    expect(await sql`select leased_by, claim from invocations where id = ${id}`).toEqual([
      { leased_by: 'node_a', claim: 3 },
    ]);
    const own = commitOf(id, 'node_a', 3);
    expect(await commitExecutions(sql, [own])).toEqual(new Set([own]));
  });

  it('with two holders in one batch takes the steps of the newest alone', async () => {
    const { sql } = test.db;
    for (const isEnd of [false, true]) {
      const id = await leased('execution', 'node_new', 2);
      const end = isEnd ? { end: END } : {};
      const stale = { ...commitOf(id, 'node_old', 1, 1), ...end };
      const own = { ...commitOf(id, 'node_new', 2), ...end };
      const twin = { ...commitOf(id, 'node_old', 1), ...end };
      const beside = commitOf(await leased('execution', 'node_new', 1), 'node_new', 1);
      expect(await commitExecutions(sql, [stale, own, beside, twin])).toEqual(new Set([own, beside]));
      expect(await valuesOf(id)).toEqual(['node_new 2']);
    }
  });
});

describe('an invocation of a source', () => {
  const runOf = (id: string, leasedBy: string, claim: number): RunCommit => ({
    accountId,
    sourceId,
    invocation: { id, leasedBy, claim },
    final: true,
    dedupe: undefined,
    emits: [{ data: `"${leasedBy} ${claim}"`, emittedAtMs: 1 }],
    dbWrites: new Map(),
  });

  it('emits once where several holders of it come to one batch', async () => {
    const id = await leased('invocation', 'node_new', 2);
    const runs = [runOf(id, 'node_old', 1), runOf(id, 'node_new', 2), runOf(id, 'node_new', 2)];
    const options = { nodeId: 'node_new', deliveryCapacity: () => 9, runCapacity: () => 9, nowMs: Date.now };
    const outcomes = await commitRuns(test.db.sql, runs, options);
    expect(outcomes.map(({ committed }) => committed)).toEqual([false, true, false]);
    expect(await test.db.sql`select data from events where emitter_id = ${sourceId}`).toEqual([
      { data: '"node_new 2"' },
    ]);
  });

  it('has a greater claim each time that it is taken, and is given back by the newest one alone', async () => {
    const { sql } = test.db;
    const row = { accountId, sourceId, kind: 'http' as const, event: '{}' };
    const id = newId('invocation');
    await insertInvocations(sql, [{ ...row, id, leasedBy: 'node_a' }]);
    const claims: number[] = [1];
    for (let n = 0; n < 3; n++) {
      await releaseInvocations(sql, 'node_a', [{ id, claim: claims.at(-1) ?? 0 }]);
      const { held } = await claimInvocations(sql, sourceId, 'node_a', 10);
      claims.push(...held.map(({ claim }) => claim));
    }
    expect(claims).toEqual([1, 2, 3, 4]);
    await releaseInvocations(sql, 'node_a', [{ id, claim: 3 }]);
    expect((await claimInvocations(sql, sourceId, 'node_b', 10)).held).toEqual([]);
  });
});

describe('invocations held by a node', () => {
  const answers: string[] = [];
  const held = (id: string, claim: number, leasedBy = 'node_a'): HeldInvocation => ({
    id,
    accountId: 'o_a',
    sourceId: 'p_a',
    kind: 'http',
    event: '{}',
    crashes: 0,
    attempts: 1,
    leasedBy,
    claim,
    respond: () => void answers.push(`${id} ${claim}`),
  });
  beforeEach(() => void answers.splice(0));

  it('is one claim of an invocation at a time: a newer one waits for the end of the one that it ends', () => {
    const claims = createHeldClaims();
    const [first, second, third] = [held('a', 1), held('a', 2, 'node_b'), held('a', 3, 'node_b')];
    expect(claims.admit([first])).toEqual([first]);
    const lost = claims.lostSignal(first);
    expect(lost.aborted).toBe(false);
    expect(claims.admit([second, third])).toEqual([]);
    expect([lost.aborted, claims.isLost(first)]).toEqual([true, true]);
    expect(answers).toEqual(['a 2']);
    expect(claims.end(first)).toBe(third);
    expect(claims.has('a')).toBe(false);
    expect(claims.admit([third])).toEqual([third]);
    expect(claims.isLost(third)).toBe(false);
  });

  it('is not taken again where the answer is to an older claim, or the same', () => {
    const claims = createHeldClaims();
    const own = held('a', 2);
    claims.admit([own]);
    expect(claims.admit([held('a', 1), held('a', 2)])).toEqual([]);
    expect(claims.isLost(own)).toBe(false);
    expect(answers).toEqual(['a 1', 'a 2']);
    expect(claims.end(own)).toBeUndefined();
  });

  it('is not held when it was given back before its answer came, until it is claimed anew', () => {
    const claims = createHeldClaims();
    claims.refuse([{ id: 'a', claim: 1 }]);
    const late = held('a', 1);
    const anew = held('a', 2);
    expect(claims.admit([late, held('b', 1)])).toMatchObject([{ id: 'b' }]);
    expect(claims.admit([anew])).toEqual([anew]);
  });

  it('is lost with the id of the node by which it was taken', () => {
    const claims = createHeldClaims();
    const [own, others] = [held('a', 1), held('b', 1, 'node_b')];
    claims.admit([own, others]);
    claims.loseNode('node_a');
    expect([own, others].map(claims.isLost)).toEqual([true, false]);
    expect(claims.lostSignal(own).aborted).toBe(true);
    expect(claims.admit([held('c', 1)])).toEqual([]);
  });
});
