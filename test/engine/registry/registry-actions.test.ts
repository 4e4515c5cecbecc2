import { afterAll, beforeAll, expect, it } from 'vitest';
import { untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';

let hw: Headwater;
let guest: Headwater['api'];

beforeAll(async () => {
  hw = await sharedHeadwater();
  await hw.limit({ maxRegistryVersions: 50 });
  const { data } = await hw.admin('POST', '/accounts', { name: 'Guest' });
  guest = hw.as(data.api_key);
});
afterAll(() => hw.stop());

const actionOf = (key: string, version: string, answer = version) =>
  `export default { name: 'Of ${key}', key: '${key}', version: '${version}', type: 'action',
    props: { word: 'string' }, run() { return [this.word, '${answer}']; } };`;

async function save(component_code: string, api = hw.api): Promise<string> {
  const { status, data, text } = await api('POST', '/components', { component_code });
  if (status !== 200) throw new Error(text);
  return data.id;
}

async function publish(component_code: string, scope?: 'registry'): Promise<string> {
  const id = await save(component_code);
  const { status, text } = await hw.api('POST', `/components/${id}/publish`, scope === undefined ? {} : { scope });
  if (status !== 200) throw new Error(text);
  return id;
}

const stepOf = (key: string, more: object = {}) => ({
  namespace: 'named',
  component_key: key,
  props: { word: 'said' },
  ...more,
});

/** Creates a workflow with the step, tests it and returns the step's value. */
async function run(step: object, api = hw.api) {
  const made = await api('POST', '/workflows', { steps: [step] });
  if (made.status !== 200) return made;
  const { data } = await api('POST', `/workflows/${made.data.id}/test`);
  return { ...made, id: made.data.id as string, returned: data.steps[0].$return_value };
}

it('an action is used by its key: the version that was published last, or the one that is named', async () => {
  await publish(actionOf('words-say', '0.0.1'));
  await publish(actionOf('words-say', '0.0.2'));
  await save(actionOf('words-say', '0.0.3'));
  expect(await run(stepOf('words-say'))).toMatchObject({ returned: ['said', '0.0.2'] });
  expect(await run(stepOf('words-say', { component_version: '0.0.1' }))).toMatchObject({ returned: ['said', '0.0.1'] });
});

it('a workflow keeps the version that it was deployed with, until it is told another', async () => {
  await publish(actionOf('words-keep', '1'));
  const made = await run(stepOf('words-keep'));
  await publish(actionOf('words-keep', '2'));
  const again = async () => {
    const id = 'id' in made ? made.id : '';
    return (await hw.api('POST', `/workflows/${id}/test`)).data.steps[0].$return_value;
  };
  expect(await again()).toEqual(['said', '1']);
  await hw.api('PUT', `/workflows/${'id' in made ? made.id : ''}`, { steps: [stepOf('words-keep')] });
  expect(await again()).toEqual(['said', '2']);
});

it('an action of the registry is used by every account, and an own one with the same key before it', async () => {
  await publish(actionOf('words-shared', '1.0.0'), 'registry');
  await publish(actionOf('words-shared', '1.1.0'), 'registry');
  expect(await run(stepOf('words-shared'), guest)).toMatchObject({ returned: ['said', '1.1.0'] });
  expect(await run(stepOf('words-shared', { component_version: '1.0.0' }), guest)).toMatchObject({
    returned: ['said', '1.0.0'],
  });
  await save(actionOf('words-shared', '9', 'own'), guest);
  expect(await run(stepOf('words-shared'), guest)).toMatchObject({ returned: ['said', 'own'] });
});

it('an action that an account published for itself is unknown to other accounts', async () => {
  const id = await publish(actionOf('words-private', '1'));
  for (const step of [stepOf('words-private'), { namespace: 'n', component_id: id, props: { word: 'x' } }]) {
    expect((await run(step, guest)).status).toBe(404);
  }
});

it('a withdrawn action is used only by workflows that have it', async () => {
  await publish(actionOf('words-gone', '1.0.0'), 'registry');
  const made = await run(stepOf('words-gone'), guest);
  const withdrawn = await hw.api('POST', '/components/words-gone/unpublish', { scope: 'registry', version: '1.0.0' });
  expect(withdrawn.status).toBe(200);
  const id = 'id' in made ? made.id : '';
  expect((await guest('POST', `/workflows/${id}/test`)).data.steps[0].$return_value).toEqual(['said', '1.0.0']);
  const { data: other } = await hw.admin('POST', '/accounts', { name: 'Other' });
  expect((await run(stepOf('words-gone'), hw.as(other.api_key))).status).toBe(404);
});

it('a source is no step, and its key says so', async () => {
  await publish(`export default { name: 'S', key: 'words-source', version: '1', run() {} };`);
  const refused = await run({ namespace: 'n', component_key: 'words-source' });
  expect(refused).toMatchObject({ status: 400 });
  expect(refused.text).toContain('is a source; steps of workflows are actions');
});

it('actions that come with the server are steps by their key', async () => {
  const receiver = await startReceiver();
  const { data: store } = await hw.api('POST', '/data_stores', { name: 'Counts' });
  const step = (namespace: string, component_key: string, props: object) => ({ namespace, component_key, props });
  const { data: made, text } = await hw.api('POST', '/workflows', {
    steps: [
      step('count', 'data_store-increment-value', {
        dataStore: store.id,
        key: 'n',
        amount: '{{steps.trigger.event.add}}',
      }),
      step('wait', 'delay-wait', { duration: 10, unit: 'milliseconds' }),
      step('enough', 'filter-continue-if', {
        value: '{{steps.count.$return_value.value}}',
        condition: 'greater',
        other: 5,
      }),
      step('tell', 'http-send-request', {
        url: `${receiver.url}/{{steps.count.$return_value.key}}`,
        method: 'POST',
        body: '{{steps.count.$return_value}}',
      }),
    ],
  });
  expect(text).toContain('p_');
  for (const [add, status] of [
    [4, 'exited'],
    [3, 'succeeded'],
  ] as const) {
    await hw.api('POST', `/workflows/${made.id}/run`, { event: { add } });
    await untilExecutions(hw.sql, made.id, 1, [status]);
  }
  expect(receiver.requests.map(({ url, body }) => [url, body])).toEqual([['/n', '{"key":"n","value":7}']]);
  await receiver.stop();
});
