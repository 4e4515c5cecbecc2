import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { addLiveLines } from '../../../engine/src/runs/add-live-lines.sql.ts';
import { openEventSource, type TestEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { action, readExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { post } from '../../support/server.ts';
import { insertTriggered } from '../../support/workflow-rows.ts';

let hw: Headwater;
/** Answers nothing until the test says so: a run that asks it goes on. */
let gate: Server;
let gateUrl: string;
const asked: ServerResponse[] = [];
const open: TestEventSource[] = [];

beforeAll(async () => {
  hw = await sharedHeadwater();
  gate = createServer((_, response) => void asked.push(response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => gate.once('listening', resolve));
  gateUrl = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`;
});
afterEach(() => {
  for (const response of asked.splice(0)) response.end();
  for (const stream of open.splice(0)) stream.close();
});
afterAll(async () => {
  await hw.stop();
  gate.closeAllConnections();
  gate.close();
});

const sourceOf = (body: string) =>
  `export default { name: 'Live', version: '1', props: { http: '$.interface.http' }, async run({ body }) { ${body} } };`;
const wait = () => `await fetch(${JSON.stringify(gateUrl)});`;

async function follow(path: string, lastEventId?: string): Promise<TestEventSource> {
  const stream = await openEventSource(`${hw.url}/v1/${path}/logs`, hw.apiKey, lastEventId);
  open.push(stream);
  return stream;
}
const lines = ({ messages }: TestEventSource) => messages.map(({ data }) => data.event.message as string);
const until = (stream: TestEventSource, count: number) =>
  eventually(() => stream.messages.length >= count, { what: `${count} lines, not ${JSON.stringify(lines(stream))}` });
const goOn = async () => {
  await eventually(() => asked.length > 0, { what: 'the run waits' });
  asked.shift()?.end();
};

test('lines of a run come while it goes on, and once; its record has all of them', async () => {
  const { id, endpoint } = await hw.deploy(
    sourceOf(`console.log('one'); console.warn('two'); ${wait()} console.log('three'); ${wait()} console.log('four');`),
  );
  const stream = await follow(`sources/${id}`);
  await post(endpoint, {});
  await until(stream, 2);
  expect((await hw.api('GET', `/sources/${id}/runs`)).data).toEqual([]);
  await goOn();
  await until(stream, 3);
  await goOn();
  await until(stream, 4);
  expect(lines(stream)).toEqual(['one', 'two', 'three', 'four']);
  expect(stream.messages.map(({ data }) => data.event.level)).toEqual(['info', 'warn', 'info', 'info']);

  const [run] = (await hw.api('GET', `/sources/${id}/runs`)).data;
  expect(run.logs.map(({ message }: { message: string }) => message)).toEqual(lines(stream));
  const { data: newest } = await hw.api('GET', `/sources/${id}/$logs/event_summaries`);
  expect(newest.toReversed()).toEqual(stream.messages.map(({ data }) => data));
  // Behind each of the four, also within a part, the rest comes once.
  for (const [index, { id: last }] of stream.messages.slice(0, 3).entries()) {
    const again = await follow(`sources/${id}`, last);
    await until(again, 3 - index);
    expect(lines(again)).toEqual(['one', 'two', 'three', 'four'].slice(index + 1));
  }
});

test('lines of a hook come while it goes on, and once; its record has all of them', async () => {
  const { id } = await hw.deploy(`export default { name: 'Leaving', version: '1', run() {}, hooks: {
    async deploy() { console.log('deployed'); },
    async deactivate() { console.log('one'); ${wait()} console.log('two'); ${wait()} console.log('three'); } } };`);
  const stream = await follow(`sources/${id}`);
  await until(stream, 1);
  const changing = hw.api('PUT', `/sources/${id}`, { active: false });
  await until(stream, 2);
  await goOn();
  await until(stream, 3);
  expect(lines(stream)).toEqual(['deployed', 'one', 'two']);
  await goOn();
  expect((await changing).status).toBe(200);
  await until(stream, 4);
  expect(lines(stream)).toEqual(['deployed', 'one', 'two', 'three']);
  const again = await follow(`sources/${id}`, stream.messages[1]?.id);
  await until(again, 2);
  expect(lines(again)).toEqual(['two', 'three']);
  const [run] = (await hw.api('GET', `/sources/${id}/runs`)).data;
  expect(run.logs.map(({ message }: { message: string }) => message)).toEqual(['one', 'two', 'three']);
});

test('lines of a hook are shown while its change is held, and the source can be followed', async () => {
  const { id } = await hw.deploy(`export default { name: 'Held', version: '1', run() {}, hooks: {
    async deactivate() { ${wait()} } } };`);
  const changing = hw.api('PUT', `/sources/${id}`, { active: false });
  await eventually(() => asked.length > 0, { what: 'the hook waits' });
  const [held] = await hw.sql<{ change_id: string; busy_by: string }[]>`
    select change_id, busy_by from sources where id = ${id}`;
  const add = (lineId: string, changeId = '') => {
    const change = { accountId: hw.accountId, sourceId: id, changeId, nodeId: held?.busy_by ?? '' };
    const lease = { id: 'inv_hook', change };
    const part = { id: lineId, accountId: hw.accountId, emitterId: id, isWorkflow: false, lease, firstLine: 0 };
    return addLiveLines(hw.sql, [{ ...part, namespace: undefined, logs: '[]' }], Date.now());
  };
  expect(await add(`${id}.1`, held?.change_id)).toMatchObject([{ id: `${id}.1`, emitterId: id }]);
  expect(await add(`${id}.2`, 'taken over')).toEqual([]);
  await hw.sql`update sources set deployed_at = null where id = ${id}`;
  expect(await add(`${id}.3`, held?.change_id)).toEqual([]);
  await hw.sql`update sources set deployed_at = now() where id = ${id}`;
  await goOn();
  expect((await changing).status).toBe(200);
});

test('lines of a step come while it runs, with its name, and once', async () => {
  const steps = [
    { namespace: 'quick', code: action(`console.log('0');`) },
    {
      namespace: 'long',
      code: action(`console.log('1'); ${wait()} console.log('2'); ${wait()} console.log('3');`),
    },
    { namespace: 'last', code: action(`console.log('4');`) },
  ];
  const flow = await insertTriggered(hw, { steps });
  const stream = await follow(`workflows/${flow.id}`);
  await post(flow.endpoint, {});
  await until(stream, 1);
  await goOn();
  await until(stream, 2);
  expect(lines(stream)).toEqual(['1', '2']);
  await goOn();
  await until(stream, 5);
  // Lines of steps that are quick come with the end of the execution.
  expect(stream.messages.map(({ data }) => [data.event.message, data.event.step])).toEqual([
    ['1', 'long'],
    ['2', 'long'],
    ['0', 'quick'],
    ['3', 'long'],
    ['4', 'last'],
  ]);
  const again = await follow(`workflows/${flow.id}`, stream.messages[0]?.id);
  await until(again, 4);
  expect(lines(again)).toEqual(['2', '0', '3', '4']);
  const [execution] = await readExecutions(hw.sql, flow.id);
  expect(execution?.steps[1]?.logs.map(({ message }) => message)).toEqual(['1', '2', '3']);
});

test('lines of a run that is ended are kept, and its error comes last', async () => {
  const code = sourceOf(`console.log('before'); await new Promise((done) => setTimeout(done, 400)); for (;;) {}`);
  await hw.limit({ runCpuMs: 300 });
  const { id, endpoint } = await hw.deploy(code);
  const stream = await follow(`sources/${id}`);
  await post(endpoint, {});
  await until(stream, 2);
  expect(lines(stream)).toEqual(['before', expect.stringContaining('CPU_LIMIT')]);
  const [run] = (await hw.api('GET', `/sources/${id}/runs`)).data;
  expect(run).toMatchObject({ error: { code: 'CPU_LIMIT' }, logs: [{ message: 'before' }] });
  await hw.limit({ runCpuMs: null });
});

test('a secret is removed from live lines', async () => {
  const secret = 'token-token-token';
  const props = `props: { http: '$.interface.http', token: { type: 'string', secret: true } }`;
  const code = sourceOf(`console.log('it is ' + this.token); ${wait()}`).replace(
    `props: { http: '$.interface.http' }`,
    props,
  );
  const { id, endpoint } = await hw.deploy(code, { token: secret });
  const stream = await follow(`sources/${id}`);
  await post(endpoint, {});
  await until(stream, 1);
  expect(lines(stream)).toEqual(['it is [secret:token]']);
  const stored = await hw.sql`select logs from live_lines where emitter_id = ${id}`;
  expect(stored).toHaveLength(1);
  expect(JSON.stringify(stored)).not.toContain(secret);
});

test('a flood stores at most its bound before the end, and each line comes once', async () => {
  const { id, endpoint } = await hw.deploy(
    sourceOf(`for (let i = 0; i < 500; i++) console.log(i + ' ' + '\\0x'.repeat(2000)); ${wait()}`),
  );
  const stream = await follow(`sources/${id}`);
  await post(endpoint, {});
  await until(stream, 1);
  const [stored] = await hw.sql<{ chars: number }[]>`
    select max(length(logs))::int as chars from live_lines where emitter_id = ${id}`;
  expect(stored?.chars).toBeLessThan(200_000);
  await goOn();
  await until(stream, 500);
  expect(lines(stream).map((line) => Number.parseInt(line, 10))).toEqual([...Array(500).keys()]);
});

test('a quick run stores nothing but its record', async () => {
  const { id, endpoint } = await hw.deploy(sourceOf(`console.log('quick');`));
  const stream = await follow(`sources/${id}`);
  await post(endpoint, {});
  await until(stream, 1);
  expect(await hw.sql`select from live_lines where emitter_id = ${id}`).toHaveLength(0);
});
