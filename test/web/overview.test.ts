import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { startReceiver } from '../support/receiver.ts';

let headwater: Headwater;
let browser: TestBrowser;

beforeAll(async () => {
  [headwater, browser] = await Promise.all([startHeadwater({ web: true }), startBrowser()]);
});
afterAll(async () => {
  await browser.stop();
  await headwater.stop();
});

const post = (url: string, body: unknown) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });

test('the overview shows what happened as it happens, failing ones first, and each number leads to its rows', async () => {
  const receiver = await startReceiver();
  const orders = await headwater.deploy(`export default {
    name: 'Orders', version: '1.0.0', props: { http: '$.interface.http' },
    async run({ body }) { if (body.fails) throw new Error('no stock'); this.$emit(body); },
  };`);
  const calm = await headwater.deploy(`export default {
    name: 'Calm', version: '1.0.0', props: { http: '$.interface.http' }, async run(event) { this.$emit(1); },
  };`);
  const { data: webhook } = await headwater.api('POST', '/webhooks', { url: receiver.url, name: 'Warehouse' });
  await headwater.api('POST', '/subscriptions', { emitter_id: orders.id, listener_id: webhook.id });
  receiver.script({ status: 500 });
  const { page, check } = await browser.open();
  await signIn(page, headwater.url, headwater.apiKey);
  const numberOf = (name: RegExp) => page.getByRole('link', { name }).first();
  await numberOf(/^0 events$/).waitFor();
  // The page is open already: the numbers come by themselves.
  for (const body of [{ order: 1 }, { order: 2 }, { fails: true }]) await post(orders.endpoint, body);
  for (let i = 0; i < 4; i++) await post(calm.endpoint, {});
  await numberOf(/^7 events$/).waitFor();
  await numberOf(/^2 deliveries$/).waitFor();
  await page.getByRole('img', { name: 'Runs: 6 ok, 1 failed in the last hour' }).waitFor();
  await page.getByRole('img', { name: 'Failed attempts: 1 failed, 0 given up in the last hour' }).waitFor();
  const emitters = page.getByRole('table', { name: 'Sources and workflows, failing first' });
  await emitters.getByRole('row', { name: /Orders/ }).waitFor();
  expect(await emitters.getByRole('row').allInnerTexts()).toEqual([
    expect.anything(),
    expect.stringMatching(/Orders[^]*1 failed[^]*3/),
    expect.stringMatching(/Calm[^]*ok[^]*4/),
  ]);
  const webhooks = page.getByRole('table', { name: 'Webhooks, failing first' });
  await webhooks.getByRole('row', { name: /Warehouse.*1 failed.*2/ }).waitFor();
  await picture(page, 'overview');
  await expectAccessible(page);
  await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
  await expectAccessible(page);
  // The same figures as text, for users who do not see a chart.
  await page.getByRole('button', { name: 'Table of Received' }).click();
  const cells = await page.getByRole('table', { name: 'Received' }).getByRole('cell').allInnerTexts();
  const sum = cells.filter((_, i) => i % 2 === 1).reduce((all, text) => all + Number(text), 0);
  expect(sum).toBe(7);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Day', exact: true }).click();
  await page.waitForURL(/range=day/);
  await page.getByRole('img', { name: 'Runs: 6 ok, 1 failed in the last day' }).waitFor();
  await page.goto(`${headwater.url}/?range=week`);
  await page.getByRole('img', { name: 'Runs: 6 ok, 1 failed in the last week' }).waitFor();
  await emitters.getByRole('link', { name: 'Orders' }).click();
  await page.getByText('no stock').first().waitFor();
  await page.goBack();
  await webhooks.getByRole('link', { name: 'Warehouse' }).click();
  await page.getByRole('table', { name: 'Deliveries' }).waitFor();
  expect(page.url()).toContain('range=7d');
  await page.getByRole('link', { name: 'Sources', exact: true }).click();
  await page.getByRole('img', { name: 'Activity of Orders in the last hour' }).waitFor();
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('img', { name: 'Activity of Warehouse in the last hour' }).waitFor();
  await picture(page, 'webhooks-sparkline');
  await expectAccessible(page);
  check();
  await receiver.stop();
}, 180_000);

test('on a phone nothing is wider than the screen', async () => {
  const { page, check } = await browser.open({ viewport: { width: 390, height: 844 } });
  await signIn(page, headwater.url, headwater.apiKey);
  await page.getByRole('img', { name: /^Runs/ }).waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await picture(page, 'overview-phone');
  await expectAccessible(page);
  check();
}, 120_000);
