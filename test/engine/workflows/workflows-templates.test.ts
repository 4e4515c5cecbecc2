import { afterAll, beforeAll, expect, test } from 'vitest';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';
import { readStarter } from '../../support/starter.ts';
import { makeWorkflow } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw?.stop());

const EVENT = { user: { name: 'Ada', tags: ['a', 'b'] }, count: '3', none: null };

/** Runs the steps once for the event; what the last of them came to. */
async function runOnce(steps: Record<string, unknown>[]) {
  const { id, triggers } = await makeWorkflow(hw, { triggers: [{ type: 'http' }], steps });
  expect((await post(triggers[0].endpoint_url, EVENT)).status).toBe(200);
  const [execution] = await untilExecutions(hw.sql, id, 1);
  return { execution, last: execution?.steps.at(-1) };
}

const body = 'steps.trigger.event.body';

test('props of every type get the values of their expressions', async () => {
  const code = action(
    'const { $emit, ...props } = this; return props;',
    `
    name: 'string', tags: 'string[]', count: 'integer', data: 'object', any: 'any',
    yes: 'boolean', secret: { type: 'string', secret: true }`,
  );
  const props = {
    name: `Dear {{${body}.user.name}}`,
    tags: `{{${body}.user.tags}}`,
    count: `{{${body}.count}}`,
    data: { of: [`{{${body}.user}}`], plain: '\\{{x}}' },
    any: `{{${body}.user.tags.map((tag) => tag + tag)}}`,
    yes: `{{${body}.count === "3"}}`,
    secret: `{{${body}.user.name}}`,
  };
  const { last } = await runOnce([{ namespace: 'look', component_code: code, props }]);
  expect(last?.value).toEqual({
    name: 'Dear Ada',
    tags: ['a', 'b'],
    count: 3,
    data: { of: [EVENT.user], plain: '{{x}}' },
    any: ['aa', 'bb'],
    yes: true,
    secret: 'Ada',
  });
});

test('a request is made from the values of its expressions', async () => {
  const target = await startReceiver();
  try {
    const code = action('return (await this.request.execute()).status;', `request: 'http_request'`);
    const request = {
      method: 'POST',
      url: `${target.url}/{{${body}.user.name}}`,
      headers: { 'x-count': `{{${body}.count}}` },
      data: { tags: `{{${body}.user.tags}}` },
    };
    const { last } = await runOnce([{ namespace: 'ask', component_code: code, props: { request } }]);
    expect(last?.value).toBe(200);
    expect(target.requests[0]).toMatchObject({ url: '/Ada', headers: { 'x-count': '3' }, body: '{"tags":["a","b"]}' });
  } finally {
    await target.stop();
  }
});

test('a path without a value fails the step, with the path, its place and the missing part', async () => {
  const { execution, last } = await runOnce([
    { namespace: 'first', component_code: action('return 1;') },
    {
      namespace: 'second',
      component_code: action('return this.id;', `id: 'string'`),
      props: { id: `{{${body}.user.id}}` },
    },
    { namespace: 'third', component_code: action('return 3;') },
  ]);
  expect(execution).toMatchObject({
    status: 'failed',
    error: {
      code: 'CONFIGURATION_ERROR',
      namespace: 'second',
      message: `The prop \`id\` of the step \`second\` wants \`${body}.user.id\`, but \`${body}.user\` has no \`id\` (it has \`name\`, \`tags\`)`,
    },
  });
  expect(last).toMatchObject({ namespace: 'second', status: 'failed' });
});

test('actions of the registry work as steps', async () => {
  const storeId = (await hw.api('POST', '/data_stores', { name: 'Of the steps' })).data.id;
  const { execution } = await runOnce([
    {
      namespace: 'count',
      component_code: await readStarter('data_store-increment-value'),
      props: { dataStore: storeId, key: `{{${body}.user.name}}`, amount: `{{${body}.count}}` },
    },
    {
      namespace: 'filter',
      component_code: await readStarter('filter-continue-if'),
      props: { value: '{{steps.count.$return_value.value}}', condition: 'greater', other: '2' },
    },
    {
      namespace: 'wait',
      component_code: await readStarter('delay-wait'),
      props: { duration: 1, unit: 'milliseconds' },
    },
    {
      namespace: 'end',
      component_code: await readStarter('data_store-has-record'),
      props: { dataStore: storeId, key: 'Ada', exitIfThere: true },
    },
    { namespace: 'never', component_code: action('return 1;') },
  ]);
  expect(execution).toMatchObject({ status: 'exited', reason: 'Ada is there already' });
  expect(execution?.steps.map(({ namespace, value }) => [namespace, value])).toEqual([
    ['count', { key: 'Ada', value: 3 }],
    ['filter', true],
    ['wait', { resume_url: expect.stringContaining('/resume/'), cancel_url: expect.stringContaining('/cancel/') }],
    ['end', undefined],
  ]);
});
