import { expect, test } from 'vitest';
import type { Principal, Span } from '../../../engine/src/contract/index.ts';
import { createRunSpans } from '../../../engine/src/observe/run-spans.ts';
import { newId } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { S3_CREDENTIALS, startObjectServer } from '../../support/object-server.ts';
import { createSendWorld, type SendWorld } from '../../support/send-world.ts';
import { stopAfterEach } from '../../support/started.ts';

const { started } = stopAfterEach();
let world: SendWorld;
let who: Principal;
let recorded: Span[];

/** After the servers of a test: its connections end before these stop. */
async function openWorld(): Promise<void> {
  world = await started(createSendWorld());
  who = await world.account({ email: 'ada@example.com' });
  recorded = [];
}

const spans = () =>
  createRunSpans(
    { samples: () => true, add: (span) => void recorded.push(span), drop: () => undefined },
    { of: (_accountId, rootId) => ({ traceId: rootId }) },
  );

test('each attempt of an e-mail is a span below its execution', async () => {
  const server = await started(startMailServer());
  await openWorld();
  server.refuse(451);
  const executionId = newId('execution');
  const [id = ''] = await world.send(who, 'email', [{ subject: 'Hello', text: 'It ran.' }], { executionId });
  const mail = { smtpUrl: server.url, from: 'Headwater <no-reply@headwater.example>' };
  const { runner } = await world.node({ mail, retry: { scheduleSeconds: [0.01] }, spans: spans() });
  await eventually(async () => {
    await runner.runLane(who);
    return (await world.ended(id, 1)).status === 'delivered';
  });
  const of = { 'headwater.send.id': id, 'headwater.send.kind': 'email', 'headwater.run.id': executionId };
  expect(recorded).toMatchObject([
    {
      name: 'send attempt',
      traceId: executionId,
      error: expect.any(String),
      attributes: { ...of, 'headwater.attempt': 1 },
    },
    { name: 'send attempt', traceId: executionId, attributes: { ...of, 'headwater.attempt': 2 } },
  ]);
  expect(recorded[1]).not.toHaveProperty('error');
  expect(JSON.stringify(recorded)).not.toMatch(/Hello|example/);
});

test('an upload is a span in the trace of each execution that has a line in it', async () => {
  const server = await started(startObjectServer());
  await openWorld();
  const node = await world.node({ spans: spans() });
  await node.sends.setS3(who, { endpoint: server.url, region: 'us-east-1', ...S3_CREDENTIALS });
  const executions = [newId('execution'), newId('execution')];
  const ids: string[] = [];
  for (const executionId of executions)
    ids.push(
      ...(await world.send(who, 's3', [{ bucket: 'lines', prefix: 'logs', payload: {} }], {
        executionId,
        nowMs: Date.now() - 120_000,
      })),
    );
  await node.runner.runLane(who);
  await Promise.all(ids.map((id) => world.ended(id)));
  expect(await server.keys('lines')).toHaveLength(1);
  const told = recorded.map(({ traceId, attributes }) => `${traceId} ${attributes['headwater.send.id']}`);
  expect(told.toSorted()).toEqual(executions.map((executionId, at) => `${executionId} ${ids[at]}`).toSorted());
  expect(new Set(recorded.map(({ spanId }) => spanId)).size).toBe(2);
});
