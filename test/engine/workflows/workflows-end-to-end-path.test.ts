import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';
import { makeWorkflow, type Workflow } from '../../support/workflow-steps.ts';

const SECRET = 'a-token-that-nobody-may-see';

let hw: Headwater;
let outside: Receiver;
let flow: Workflow;
let webhook: { id: string; secret: string };

beforeAll(async () => {
  [hw, outside] = [await startHeadwater(), await startReceiver()];
  // A server that repeats the request: the step returns its answer.
  outside.answer = ({ headers: { authorization } }) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ number: 7, authorization }),
  });
});
afterAll(async () => {
  await hw?.stop();
  await outside?.stop();
});

/** With the parameters in the query string, as the specification shows it. */
async function postQuery<T>(path: string, parameters: Record<string, string>): Promise<T> {
  const url = `${hw.url}/v1${path}?${new URLSearchParams(parameters).toString()}`;
  const headers = { authorization: `Bearer ${hw.apiKey}`, 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: T }).data;
}

const at = (path: string) => outside.requests.filter(({ url }) => url === path);

/** One action of the account and one of the registry by key, and one of its own code. */
async function makeFlow(): Promise<Workflow> {
  const total = `export default { key: 'orders-total', name: 'Total', version: '1.0.0', type: 'action',
    props: { items: 'any', rate: { type: 'integer', min: 1 }, label: 'string', rush: 'boolean' },
    run({ $ }) {
      console.log('of', this.items.length);
      $.export('label', this.label);
      return { cents: this.items.reduce((sum, { cents }) => sum + cents, 0) * this.rate, rush: this.rush };
    } };`;
  const saved = await hw.api('POST', '/components', { component_code: total });
  expect((await hw.api('POST', `/components/${saved.data.id}/publish`)).status).toBe(200);
  await hw.api('PUT', '/environment_variables/SHOP_TOKEN', { value: SECRET });
  return makeWorkflow(hw, {
    name: 'Orders',
    triggers: [{ type: 'http', custom_response: true }],
    steps: [
      {
        namespace: 'total',
        component_key: 'orders-total',
        props: {
          items: '{{steps.trigger.event.body.items}}',
          rate: '{{steps.trigger.event.query.rate}}',
          label: 'Order of {{steps.trigger.event.body.who}}, {{steps.trigger.event.body.items.length}} items',
          rush: '{{steps.trigger.event.body.who === "Ada"}}',
        },
      },
      {
        namespace: 'book',
        component_key: 'http-send-request',
        props: {
          method: 'POST',
          url: `${outside.url}/book`,
          bearerToken: '{{env.SHOP_TOKEN}}',
          body: { total: '{{steps.total.$return_value}}', label: '{{steps.total.label}}' },
        },
      },
      {
        namespace: 'tell',
        component_code: action(`const { number } = steps.book.$return_value.body;
          $.send.http({ method: 'POST', url: '${outside.url}/after', data: { number } });
          $.send.emit({ number, cents: steps.total.$return_value.cents });
          $.send.emit({ raw_event: { number }, name: 'audit' });
          $.send.sse({ channel: 'live', payload: { number } });
          $.respond({ status: 201, body: { number, trace: $.context.trace_id } });`),
      },
    ],
  });
}

test('a request goes through steps of three kinds, is answered, emitted, sent and delivered signed, in one trace', async () => {
  flow = await makeFlow();
  webhook = await postQuery('/webhooks', { url: `${outside.url}/hook`, name: 'shop', description: 'orders' });
  await postQuery('/subscriptions', { emitter_id: flow.id, listener_id: webhook.id });
  const live = await openEventSource(`${hw.url}/v1/workflows/${flow.id}/sse`, hw.apiKey);

  const order = { who: 'Ada', items: [{ cents: 250 }, { cents: 50 }] };
  const answer = await post(`${flow.triggers[0].endpoint_url as string}/orders?rate=2`, order);
  const { number, trace } = (await answer.json()) as { number: number; trace: string };
  expect([answer.status, number]).toEqual([201, 7]);

  const [booked] = at('/book');
  expect(booked?.headers.authorization).toBe(`Bearer ${SECRET}`);
  expect(JSON.parse(booked?.body ?? '')).toEqual({
    total: { cents: 600, rush: true },
    label: 'Order of Ada, 2 items',
  });
  await eventually(() => at('/hook').length === 1 && at('/after').length === 1);
  expect(at('/after')).toMatchObject([{ method: 'POST', body: '{"number":7}' }]);
  const [delivery] = at('/hook');
  const verified = new Webhook(webhook.secret).verify(
    delivery?.body ?? '',
    delivery?.headers as Record<string, string>,
  );
  expect(verified).toEqual({ number: 7, cents: 600 });
  await eventually(() => live.messages.length === 3);
  expect(live.messages.map(({ event, data }) => [event, event === 'live' ? data : data.event])).toEqual([
    ['message', { number: 7, cents: 600 }],
    ['audit', { number: 7 }],
    ['live', { number: 7 }],
  ]);
  live.close();

  const tree = await eventually(async () => {
    const { data } = await hw.api('GET', `/traces/${trace}`);
    const execution = data.runs[0];
    const isDelivered = execution.events[0]?.listeners[0]?.delivery?.status === 'delivered';
    return isDelivered && execution.sends[0]?.status === 'delivered' && data;
  });
  expect(tree.runs).toMatchObject([
    {
      type: 'execution',
      id: trace,
      emitter_id: flow.id,
      emitter_name: 'Orders',
      kind: 'http',
      status: 'succeeded',
      steps: [
        { namespace: 'total', status: 'done', logs: [{ message: 'of 2' }] },
        { namespace: 'book', status: 'done' },
        { namespace: 'tell', status: 'done' },
      ],
      events: [
        {
          name: '',
          listeners: [{ listener_id: webhook.id, outcome: 'delivery', delivery: { attempts: [{ status_code: 200 }] } }],
        },
        { name: 'audit', listeners: [{ listener_id: webhook.id, outcome: 'missed', reason: 'no_such_channel' }] },
        { name: '$sse', listeners: [] },
      ],
      sends: [{ kind: 'http', status: 'delivered', attempts: [{ status_code: 200 }] }],
    },
  ]);
  const { queued_ms: queuedMs, ran_ms: ranMs, steps } = tree.runs[0];
  expect(queuedMs).toBeGreaterThanOrEqual(0);
  expect(ranMs).toBeGreaterThanOrEqual(steps.at(-1).ended_at - steps[0].started_at);
});

test('nothing that is kept or shown of it has the value of the environment variable', async () => {
  const [{ id }] = (await hw.api('GET', `/workflows/${flow.id}/executions`)).data;
  const shown = await Promise.all(
    [
      `/workflows/${flow.id}`,
      `/executions/${id}?expand=event`,
      `/executions/${id}/sends`,
      `/traces/${id}`,
      `/workflows/${flow.id}/event_summaries?expand=event`,
      `/workflows/${flow.id}/$logs/event_summaries`,
      `/webhooks/${webhook.id}/deliveries`,
      '/environment_variables',
    ].map(async (path) => (await hw.api('GET', path)).text),
  );
  for (const text of shown) expect(text).not.toContain(SECRET);
  const [rows] = await hw.sql<{ text: string }[]>`
    select concat((select json_agg(s) from execution_steps s), (select json_agg(d) from deployments d),
      (select json_agg(e) from environment_variables e), (select json_agg(e) from executions e)) as text`;
  expect(rows?.text).toContain('SHOP_TOKEN');
  expect(rows?.text).not.toContain(SECRET);
});

test('a replay of it books again under a trace of its own, and answers no client', async () => {
  const [{ id }] = (await hw.api('GET', `/workflows/${flow.id}/executions`)).data;
  const { data } = await hw.api('POST', `/executions/${id}/replay`);
  const replay = await eventually(async () => {
    const { data: found } = await hw.api('GET', `/executions/${data.execution_id}`);
    return found.ended_at !== null && found;
  });
  expect(replay).toMatchObject({
    status: 'succeeded',
    replay_of: id,
    trace_id: replay.id,
    trigger: { event: { body: { who: 'Ada' } }, context: { replay: true } },
    steps: { total: { $return_value: { cents: 600, rush: true } } },
  });
  await eventually(() => at('/hook').length === 2);
  expect(at('/book')).toHaveLength(2);
});

test('a workflow of another account neither sees the action nor hears the events', async () => {
  const other = hw.as((await hw.admin('POST', '/accounts', { name: 'Other' })).data.api_key as string);
  const refused = await other('POST', '/workflows', {
    steps: [{ namespace: 'total', component_key: 'orders-total', props: {} }],
  });
  expect([refused.status, refused.text]).toEqual([404, expect.stringContaining('No component orders-total')]);
  const deaf = await makeWorkflow({ api: other }, { steps: [] });
  const asked = await other('POST', '/subscriptions', { emitter_id: flow.id, listener_id: deaf.id });
  const [{ id }] = (await hw.api('GET', `/workflows/${flow.id}/executions`)).data;
  expect([asked.status, (await other('GET', `/executions/${id}`)).status]).toEqual([404, 404]);
});
