import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';
import { makeWorkflow } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
  await hw.limit({ maxLogLineBytes: 256, maxLogLinesPerRun: 10 });
});
afterAll(() => hw.stop());

/** A short line, a long one with a secret at its beginning, and more than there may be. */
const LOGGING = `console.log('short'); console.log(token + 'x'.repeat(300)); for (let i = 0; i < 20; i++) console.log(i);`;
const TOKEN = 'token-of-the-account';
const SOURCE = `export default { name: 'Logger', version: '1',
  props: { http: '$.interface.http', token: { type: 'string', secret: true } }, run() { const { token } = this; ${LOGGING} } };`;

const CUT = { name: 'maxLogLineBytes', value: 256, used: 300 + TOKEN.length };
const LAST = { name: 'maxLogLinesPerRun', value: 10, used: 11 };
const limits = [undefined, CUT, ...Array.from({ length: 8 }, () => undefined), LAST];

interface Line {
  level: string;
  message: string;
  limit?: object;
}

function expectLimited(lines: readonly Line[], beginning: string): void {
  expect(lines.map(({ limit }) => limit)).toEqual(limits);
  expect(lines[1]).toMatchObject({ level: 'info', message: expect.stringMatching(/x… \(cut\)$/) });
  expect(lines[1]?.message.startsWith(`${beginning}x`)).toBe(true);
  expect(lines.at(-1)).toMatchObject({ level: 'warn', message: expect.stringContaining('maxLogLinesPerRun is 10') });
  expect(JSON.stringify(lines)).not.toContain(TOKEN);
}

const runOnce = async (endpoint: string) => {
  expect((await fetch(endpoint, { method: 'POST', body: 'x' })).status).toBe(200);
  await hw.untilIdle();
};

test('lines of a run name the limit that cut them, in its record, trace, stream and deliveries', async () => {
  const source = await hw.deploy(SOURCE, { token: TOKEN });
  const receiver = await startReceiver();
  const { data: webhook } = await hw.api('POST', '/webhooks', { url: receiver.url });
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id, event_name: '$logs' });
  const stream = await openEventSource(`${hw.url}/v1/sources/${source.id}/logs`, hw.apiKey);
  await runOnce(source.endpoint);
  await receiver.until(limits.length);
  await eventually(() => stream.messages.length === limits.length);
  stream.close();
  await receiver.stop();

  const [run] = (await hw.api('GET', `/sources/${source.id}/runs`)).data;
  expect(run.status).toBe('ok');
  const streamed = stream.messages.map(({ data }) => data.event as Line);
  const listed = (await hw.api('GET', `/sources/${source.id}/$logs/event_summaries`, { limit: 100 })).data;
  const [root] = (await hw.api('GET', `/traces/${run.id}`)).data.runs;
  for (const lines of [run.logs, root.logs, streamed]) expectLimited(lines, '[secret:token]');
  expect(listed.map(({ event }: { event: Line }) => event).toReversed()).toEqual(streamed);
  const heard = receiver.requests.map(({ body }) => JSON.parse(body) as Line);
  expect(heard.filter(({ limit }) => limit !== undefined).map(({ limit }) => limit)).toEqual(
    expect.arrayContaining([CUT, LAST]),
  );
});

test('so do lines of steps, in executions, their traces and streams, and in tests of a workflow', async () => {
  const steps = [{ namespace: 'log', component_code: action(`const token = '${TOKEN}'; ${LOGGING}`) }];
  const flow = await makeWorkflow(hw, { name: 'Flow', triggers: [{ type: 'http' }], steps });
  await fetch(flow.triggers[0].endpoint_url, { method: 'POST', body: 'x' });
  const [execution] = await untilExecutions(hw.sql, flow.id, 1);
  const id = execution?.id ?? '';
  const step = (await hw.api('GET', `/executions/${id}`)).data.steps.log;
  const [root] = (await hw.api('GET', `/traces/${id}`)).data.runs;
  const tested = (await hw.api('POST', `/workflows/${flow.id}/test`, { event: {} })).data;
  const listed = (await hw.api('GET', `/workflows/${flow.id}/$logs/event_summaries`, { limit: 100 })).data;
  const ofEvents = listed.map(({ event }: { event: Line }) => event).toReversed();
  for (const lines of [step.logs, root.steps[0].logs, tested.steps[0].logs, ofEvents])
    expect(lines.map(({ limit }: Line) => limit)).toEqual(limits);
});

test('lines that were stored without one are read as they are', async () => {
  const source = await hw.deploy(SOURCE, { token: TOKEN });
  await runOnce(source.endpoint);
  await hw.sql`update runs set logs = '[{"at":5,"level":"info","message":"old"}]' where source_id = ${source.id}`;
  const [run] = (await hw.api('GET', `/sources/${source.id}/runs`)).data;
  expect(run.logs).toEqual([{ at_ms: 5, level: 'info', message: 'old' }]);
  const [line] = (await hw.api('GET', `/sources/${source.id}/$logs/event_summaries`)).data;
  expect(line.event).toEqual({ level: 'info', message: 'old', ts: 5, run: run.id });
});
