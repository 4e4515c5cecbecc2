import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { type StatCounter } from '../../engine/src/contract/stats.ts';
import { signIn, startBrowser } from './browser.ts';
import { eventually } from './eventually.ts';
import { setup } from './global-setup.ts';
import { type Headwater, startHeadwater } from './headwater.ts';
import { startReceiver } from './receiver.ts';

const FOLDER = path.resolve('docs/pictures');
const MINUTE_MS = 60_000;
const SLOW = { timeoutMs: 3 * MINUTE_MS };

const ORDERS = `export default {
  name: 'Shop orders', version: '1.2.0',
  props: { http: '$.interface.http' },
  async run({ body }) {
    console.log('order', body.order, 'of', body.customer.name);
    this.$emit(body, { id: body.order, summary: 'Order ' + body.order + ' · ' + body.customer.name });
  },
};`;
const RATES = `export default { name: 'Currency rates', version: '0.3.1', async run() { this.$emit({ EUR: 1 }); } };`;
const TOTAL = `export default { run({ steps, $ }) {
  const { items } = steps.trigger.event;
  console.log('pricing', items.length, 'items');
  $.export('cents', items.reduce((sum, { count, cents }) => sum + count * cents, 0));
  return items.map(({ sku }) => sku);
} };`;
const CHECK = `export default { run({ steps }) {
  if (steps.total.cents > 200000) throw new Error('The order is over the credit limit of 2000.00');
  return 'within the limit';
} };`;
const CUSTOMERS = ['Ada Lovelace', 'Grace Hopper', 'Mary Jackson', 'Hedy Lamarr', 'Radia Perlman'];

/** Draws the pictures of docs/web.md anew, of an instance with made-up content. */
async function writePictures(): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const stopDatabase = await setup();
  const headwater = await startHeadwater({ web: true });
  const receiver = await startReceiver();
  const browser = await startBrowser();
  try {
    const content = await fill(headwater, receiver);
    const { page } = await browser.open({ viewport: { width: 1280, height: 720 } });
    await signIn(page, headwater.url, headwater.apiKey);
    await draw(page, headwater.url, content);
  } finally {
    await browser.stop();
    await receiver.stop();
    await headwater.stop();
    await stopDatabase();
  }
}

async function fill(headwater: Headwater, receiver: Awaited<ReturnType<typeof startReceiver>>) {
  const ask = async (...request: Parameters<Headwater['api']>) => {
    const { status, data, text } = await headwater.api(...request);
    if (status >= 300) throw new Error(text);
    return data;
  };
  receiver.answer = ({ url }) =>
    url === '/accounting'
      ? { status: 503, headers: { 'retry-after': '30' }, body: 'Down for maintenance until noon' }
      : { status: 200, body: '{"number":"W-1017"}', headers: { 'content-type': 'application/json' } };
  const orders = await headwater.deploy(ORDERS);
  const rates = await headwater.deploy(RATES);
  const warehouse = await ask('POST', '/webhooks', { url: `${receiver.url}/warehouse`, name: 'Warehouse' });
  const accounting = await ask('POST', '/webhooks', { url: `${receiver.url}/accounting`, name: 'Accounting' });
  for (const { id } of [warehouse, accounting]) {
    await ask('POST', '/subscriptions', { emitter_id: orders.id, listener_id: id });
  }
  await ask('PUT', '/environment_variables/WAREHOUSE_URL', { value: receiver.url });
  const workflow = await ask('POST', '/workflows', {
    name: 'Order intake',
    triggers: [{ source_id: orders.id }],
    steps: [
      { namespace: 'total', component_code: TOTAL },
      {
        namespace: 'reserve',
        component_key: 'http-send-request',
        props: {
          method: 'POST',
          url: '{{env.WAREHOUSE_URL}}/reservations',
          body: { lines: '{{steps.total.$return_value}}', order: '{{steps.trigger.event.order}}' },
        },
      },
      { namespace: 'check', component_code: CHECK },
    ],
    settings: { timeout_seconds: 30 },
  });
  for (let at = 0; at < 18; at++) {
    const items = [
      { sku: 'weir', count: at === 17 ? 2 : 1, cents: 125_000 },
      { sku: 'sluice', count: 1, cents: 48_000 },
    ];
    const body = {
      order: 1000 + at,
      customer: { name: CUSTOMERS[at % CUSTOMERS.length], vat: 'DE 811 907 980' },
      items,
    };
    await fetch(orders.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await headwater.untilEvents(orders.id, at + 1);
  }
  const execution = await eventually(async () => {
    const data = await ask('GET', `/workflows/${workflow.id}/executions`, { limit: 30 });
    return data.length === 18 && data.find(({ status }: { status: string }) => status === 'failed');
  }, SLOW);
  const [delivery] = await ask('GET', `/webhooks/${accounting.id}/deliveries`, { limit: 1 });
  await eventually(async () => (await ask('GET', `/deliveries/${delivery.id}`)).attempts.length >= 2, SLOW);
  await count(headwater, { orders: orders.id, rates: rates.id, workflow: workflow.id, warehouse: warehouse.id });
  const [event] = await ask('GET', `/sources/${orders.id}/event_summaries`, { limit: 3 });
  return { orders: orders.id, event: event.id, workflow: workflow.id, delivery: delivery.id, execution: execution.id };
}

type Counts = Partial<Record<StatCounter, number>>;

/** An hour of activity, which the instance has not been there for. */
async function count(headwater: Headwater, ids: Record<'orders' | 'rates' | 'workflow' | 'warehouse', string>) {
  const nowMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  const add = (subject: string, atMs: number, counts: Counts) => {
    const { received = 0, emitted = 0, runsOk = 0, runsFailed = 0, delivered = 0, failedAttempts = 0 } = counts;
    return headwater.sql`
      insert into stats (account_id, subject_id, step_seconds, began_ms,
        received, emitted, runs_ok, runs_failed, delivered, failed_attempts)
      values (${headwater.accountId}, ${subject}, 60, ${atMs},
        ${received}, ${emitted}, ${runsOk}, ${runsFailed}, ${delivered}, ${failedAttempts})
      on conflict do nothing`;
  };
  for (let minute = 1; minute < 60; minute++) {
    const atMs = nowMs - minute * MINUTE_MS;
    const events = Math.round(40 + 22 * Math.sin(minute / 7) + 9 * Math.sin(minute * 2.3));
    const failed = minute > 20 && minute < 27 ? Math.round(events / 4) : 0;
    await add(ids.orders, atMs, { received: events, emitted: events, runsOk: events });
    await add(ids.workflow, atMs, { received: events, runsOk: events - failed, runsFailed: failed });
    await add(ids.warehouse, atMs, { delivered: events, failedAttempts: failed });
    if (minute % 5 === 0) await add(ids.rates, atMs, { received: 1, emitted: 1, runsOk: 1 });
    await add(headwater.accountId, atMs, {
      received: events * 2,
      emitted: events,
      runsOk: events * 2 - failed,
      runsFailed: failed,
      delivered: events,
      failedAttempts: failed,
    });
  }
}

async function draw(page: Page, url: string, content: Awaited<ReturnType<typeof fill>>): Promise<void> {
  const { orders, event, workflow, delivery, execution } = content;
  await page.goto(url);
  await page.getByRole('img', { name: /^Runs/ }).waitFor();
  await page.getByRole('table', { name: 'Webhooks, failing first' }).waitFor();
  await shoot(page, 'overview');
  await page.goto(`${url}/sources/${orders}?event=${event}`);
  await page.getByRole('tree').first().waitFor();
  await shoot(page, 'source-events');
  await page.goto(`${url}/deliveries/${delivery}`);
  await page.getByRole('list', { name: 'Attempts' }).waitFor();
  await shoot(page, 'delivery');
  await page.goto(`${url}/workflows/${workflow}?tab=build&step=reserve`);
  await page.getByRole('textbox', { name: 'URL', exact: true }).waitFor();
  await page.getByText('events of Shop orders').first().waitFor();
  await shoot(page, 'builder');
  await page.goto(`${url}/executions/${execution}`);
  await page.getByRole('list', { name: 'Steps' }).waitFor();
  await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
  await shoot(page, 'execution');
}

/** Addresses of this machine and ids are others at each run: a picture has the same ones. */
const STEADY = `(() => {
  const steady = (text) => text
    .replaceAll(/http:\\/\\/127\\.0\\.0\\.1:\\d+/g, 'https://hooks.example.com')
    .replaceAll('127.0.0.1', '203.0.113.7')
    .replaceAll(/\\/e\\/[a-z0-9]{20,}/g, '/e/n4xk2v7qjd9m1c8t5w3p0b6s')
    .replaceAll(/\\b(dc|wh|p|exec|dlv|inv|d)_[0-9A-Za-z]{20}\\b/g, '$1_1vZ8kQ0aB3xYpL9mWc2T')
    .replaceAll(/\\b17\\d{11}-(\\d+)\\b/g, '1763640187123-$1');
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = steady(node.data);
    if (text !== node.data) node.data = text;
  }
})()`;

async function shoot(page: Page, name: string): Promise<void> {
  await eventually(async () => (await page.getByRole('status', { name: 'Loading' }).count()) === 0);
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  await page.evaluate(STEADY);
  await page.screenshot({ path: path.join(FOLDER, `${name}.png`) });
}

await writePictures();
