import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type CliUser, createCliUser } from '../support/cli.ts';
import { untilExecutions } from '../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { post } from '../support/server.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const EXAMPLES = fileURLToPath(new URL('../../examples/workflows', import.meta.url));

let hw: Headwater;
let user: CliUser;
let outside: Receiver;

beforeAll(async () => {
  [hw, outside] = [await sharedHeadwater(), await startReceiver()];
  user = await createCliUser({ HEADWATER_URL: hw.url, HEADWATER_API_KEY: hw.apiKey });
});
afterAll(async () => {
  await user?.remove();
  await outside?.stop();
  await hw?.stop();
});
beforeEach(() => {
  outside.requests.length = 0;
});

/** As a reader of the example does it. */
async function make(name: string, variable: string): Promise<{ id: string; endpoint: string }> {
  await user.json('env', 'set', `${variable}=${outside.url}`);
  const { id, triggers } = await user.json('workflows', 'create', path.join(EXAMPLES, `${name}.json`));
  return { id, endpoint: triggers[0].endpoint_url };
}

describe('order-intake', () => {
  let flow: { id: string; endpoint: string };
  beforeAll(async () => {
    flow = await make('order-intake', 'WAREHOUSE_URL');
    outside.answer = { headers: { 'content-type': 'application/json' }, body: '{"number":7}' };
  });

  test('an order is priced, given to the warehouse, confirmed and emitted', async () => {
    const answer = await post(flow.endpoint, { items: [{ name: 'weir', count: 2 }], note: 'soon' });
    expect([answer.status, answer.headers.get('location'), await answer.json()]).toEqual([
      201,
      '/orders/7',
      { number: 7, total_in_cents: 250_000 },
    ]);
    const [execution] = await untilExecutions(hw.sql, flow.id, 1);
    expect(outside.requests).toMatchObject([{ url: '/orders', headers: { 'idempotency-key': execution?.id } }]);
    expect(JSON.parse(outside.requests[0]?.body ?? '')).toEqual({
      lines: [{ name: 'weir', count: 2, cents: 250_000 }],
      note: 'soon',
    });
    const { data: events } = await hw.api('GET', `/workflows/${flow.id}/event_summaries`);
    expect(events).toMatchObject([{ event: { number: 7, total_in_cents: 250_000 }, metadata: { name: '' } }]);
  });

  test.each([
    [{ items: [{ name: 'boat', count: 1 }] }, '{"name":"boat","count":1} cannot be ordered'],
    [{ items: [{ name: 'constructor', count: 1 }] }, '{"name":"constructor","count":1} cannot be ordered'],
    [{}, 'The order has no items'],
    [null, 'The order has no items'],
  ])('an order that cannot be sold is refused: %j', async (order, error) => {
    const answer = await post(flow.endpoint, order);
    expect([answer.status, await answer.json()]).toEqual([422, { error }]);
    expect(outside.requests).toEqual([]);
  });
});

describe('approval', () => {
  let flow: { id: string; endpoint: string };
  beforeAll(async () => {
    flow = await make('approval', 'DESK_URL');
    outside.answer = {};
  });

  async function ask(): Promise<{ question: string; resume_url: string }> {
    outside.requests.length = 0;
    await post(flow.endpoint, { who: 'Grace', amount: 250 });
    const [question] = await outside.until(1);
    return JSON.parse(question?.body ?? '') as { question: string; resume_url: string };
  }

  test('an approved request is paid', async () => {
    const { question, resume_url: resumeUrl } = await ask();
    expect(question).toBe('May Grace spend 250?');
    expect((await post(resumeUrl, { approved: true, by: 'Ada' })).status).toBe(200);
    const [, payment] = await outside.until(2);
    expect(payment?.url).toBe('/payments');
    expect(JSON.parse(payment?.body ?? '')).toEqual({ to: 'Grace', amount: 250, approved_by: 'Ada' });
  });

  test.each([
    ['refused', { approved: false }],
    ['answered with nothing', ''],
  ])('a request that is %s is not paid', async (_, decision) => {
    const before = (await untilExecutions(hw.sql, flow.id, 1)).length;
    const { resume_url: resumeUrl } = await ask();
    expect((await post(resumeUrl, decision)).status).toBe(200);
    const executions = await untilExecutions(hw.sql, flow.id, before + 1);
    expect(executions.at(-1)).toMatchObject({ status: 'exited', reason: 'Nobody has approved' });
    expect(outside.requests).toHaveLength(1);
  });
});
