import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEventSource } from '../support/event-source.ts';
import { eventually } from '../support/eventually.ts';
import { action, readExecutions } from '../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { post } from '../support/server.ts';
import { insertTriggered } from '../support/workflow-rows.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const FAIL = `
  const inner = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const many = new AggregateError([new TypeError('first'), new RangeError('second')], 'all failed', { cause: inner });
  throw Object.assign(new Error('Request failed', { cause: many }), {
    response: { status: 422, data: { error: 'name is missing' } },
  });`;

/** Texts that every record of a run's error must contain. */
const TOLD = [
  /Request failed\n {4}at .*component\.m?js:\d+:\d+/,
  /\[response\]: 422 \{"error":"name is missing"\}/,
  /\[cause\]: AggregateError: all failed/,
  /\[cause\]: Error: refused \(ECONNREFUSED\)/,
  /\[errors\]: TypeError: first/,
  /\[errors\]: RangeError: second/,
];
function expectAll(text: string): void {
  for (const told of TOLD) expect(text).toMatch(told);
}

test('the record of a run, $errors, its logs and its trace keep causes, errors and the answer', async () => {
  const code = `export default { name: 'F', version: '1', props: { http: '$.interface.http' }, run() { ${FAIL} } };`;
  const { id, endpoint } = await hw.deploy(code);
  const stream = await openEventSource(`${hw.url}/v1/sources/${id}/logs`, hw.apiKey);
  await post(endpoint, {});
  await hw.untilIdle();
  const [run] = (await hw.api('GET', `/sources/${id}/runs`)).data;
  expectAll(run.error.stack);
  const [event] = (await hw.api('GET', `/sources/${id}/$errors/event_summaries`, { expand: 'event' })).data;
  expectAll(event.event.error.stack);
  await eventually(() => stream.messages.length > 0, { what: 'the error in the logs' });
  stream.close();
  expectAll(stream.messages[0]?.data.event.message);
  const { data: trace } = await hw.api('GET', `/traces/${run.id}`);
  expectAll(JSON.stringify(trace).replaceAll(String.raw`\n`, '\n').replaceAll(String.raw`\"`, '"'));
});

test('so do an execution, the $errors of its workflow and its logs', async () => {
  const flow = await insertTriggered(hw, { steps: [{ namespace: 'failing', code: action(FAIL) }] });
  const stream = await openEventSource(`${hw.url}/v1/workflows/${flow.id}/logs`, hw.apiKey);
  await post(flow.endpoint, {});
  await hw.untilIdle();
  const [execution] = await readExecutions(hw.sql, flow.id);
  expect(execution?.status).toBe('failed');
  const { data } = await hw.api('GET', `/executions/${execution?.id}`);
  expectAll(data.error.stack);
  expectAll(
    data.steps.failing?.error.stack ??
      data.steps.find(({ namespace }: { namespace: string }) => namespace === 'failing').error.stack,
  );
  const [event] = (await hw.api('GET', `/workflows/${flow.id}/$errors/event_summaries`, { expand: 'event' })).data;
  expectAll(event.event.error.stack);
  await eventually(() => stream.messages.length > 0, { what: 'the error in the logs' });
  stream.close();
  expectAll(stream.messages[0]?.data.event.message);
});
