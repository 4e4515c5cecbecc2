import { afterEach, beforeEach, expect, test } from 'vitest';
import { LIMITS, newId } from '@headwater/shared';
import type { Principal } from '../../../engine/src/contract/engine.ts';
import { createSendWorld, type SendNode, type SendWorld } from '../../support/send-world.ts';

let world: SendWorld;
let node: SendNode;
let who: Principal;
let other: Principal;
const executionId = newId('execution');

beforeEach(async () => {
  world = await createSendWorld();
  node = await world.node();
  [who, other] = [await world.account(), await world.account()];
  await world.database.db.sql`
    insert into executions (id, account_id, workflow_id, deployment_id, kind, status, event, context, trace_id, started_at)
    values (${executionId}, ${who.accountId}, 'p_1', 'd_1', 'http', 'succeeded', '{}', '{}', ${executionId}, now())`;
});
afterEach(() => world.stop());

test('the sends of an execution are listed newest first, in pages, with what was given', async () => {
  const ids = await world.send(who, 'http', [{ url: 'https://a.example/' }, { url: 'https://b.example/' }], {
    executionId,
  });
  await world.send(who, 'email', [{ subject: 'another execution', text: '' }]);
  const first = await node.sends.list(who, executionId, { limit: 1 });
  expect(first).toMatchObject({ total: 2, items: [{ id: ids[1], kind: 'http', status: 'pending', executionId }] });
  expect(first.items[0]).toMatchObject({ payload: '{"url":"https://b.example/"}', attempts: [], traceId: executionId });
  const second = await node.sends.list(who, executionId, { limit: 1, after: first.endCursor ?? '' });
  expect(second.items.map(({ id }) => id)).toEqual([ids[0]]);
});

test('an execution that sent nothing has an empty list; one that there is not is not found', async () => {
  expect(await node.sends.list(who, executionId, { limit: 10 })).toMatchObject({ total: 0, items: [] });
  await expect(node.sends.list(who, 'exec_none', { limit: 10 })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(node.sends.list(who, 'exec\0', { limit: 10 })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('sends, executions and settings of others are as if they were not there', async () => {
  const [id = ''] = await world.send(who, 'http', [{ url: 'ftp://x' }], { executionId });
  await node.runner.runLane(who);
  await world.ended(id);
  await node.sends.setS3(who, { region: 'a', accessKeyId: 'b', secretAccessKey: 'c' });
  await expect(node.sends.list(other, executionId, { limit: 10 })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(node.sends.retry(other, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(node.sends.s3Settings(other)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await node.sends.deleteS3(other);
  expect(await node.sends.s3Settings(who)).toMatchObject({ region: 'a' });
  expect((await world.row(id)).status).toBe('failed');
});

test('a send that has failed is attempted anew, with its attempts kept; one that has not is a conflict', async () => {
  const [id = ''] = await world.send(who, 'email', [{ subject: 'a', text: 'b' }], { executionId });
  await expect(node.sends.retry(who, id)).rejects.toMatchObject({ code: 'CONFLICT' });
  await node.runner.runLane(who);
  await world.ended(id);
  expect(await node.sends.retry(who, id)).toMatchObject({ status: 'pending', attempts: [{}] });
  await node.runner.runLane(who);
  const row = await world.ended(id);
  expect(row).toMatchObject({ status: 'failed', attempt_count: 1 });
  expect(row.attempts).toHaveLength(2);
});

test('a send attempted again and again keeps its newest attempts', async () => {
  const [id = ''] = await world.send(who, 'email', [{ subject: 'a', text: 'b' }], { executionId });
  await node.runner.runLane(who);
  await world.ended(id);
  await world.database.db.sql`
    update sends set attempts = (
      select jsonb_agg(jsonb_build_object('at', '2026-01-01T00:00:00Z', 'duration_ms', n))
      from generate_series(1, ${LIMITS.maxKeptSendAttempts}::int4) as n
    ) where id = ${id}`;
  await node.sends.retry(who, id);
  await node.runner.runLane(who);
  const { attempts } = await world.ended(id);
  expect(attempts).toHaveLength(LIMITS.maxKeptSendAttempts);
  expect(attempts[0]).toMatchObject({ duration_ms: 2 });
  expect(attempts.at(-1)).toMatchObject({ error: expect.stringContaining('sends no e-mail') });
});
