import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
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

test('a webhook is stopped, shows what it holds, discards it, and is started; order and rate are set', async () => {
  const receiver = await startReceiver();
  const source = await headwater.deploy(
    `export default { name: 'Orders', version: '1.0.0', run(event) { this.$emit(event); } };`,
  );
  const { id } = (await headwater.api('POST', '/webhooks', { url: receiver.url, name: 'Warehouse' })).data;
  await headwater.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  const emit = (n: number) => headwater.api('POST', `/sources/${source.id}/run`, { event: { n } });
  const untilHeld = (count: number) =>
    eventually(async () => {
      const { data } = await headwater.api('GET', `/webhooks/${id}/deliveries`, { status: 'held' });
      return data.length === count;
    });
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks/${id}`, headwater.apiKey);
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('The webhook is stopped.').waitFor();
  for (const n of [1, 2]) await emit(n);
  await untilHeld(2);
  await page.getByText('2 held').waitFor();
  await picture(page, 'webhook-held');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Discard what waits' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  await page.getByText('0 held').waitFor();
  await emit(3);
  await untilHeld(1);
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByRole('spinbutton', { name: 'Held deliveries a second' }).fill('5');
  await picture(page, 'webhook-activate');
  await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
  const [request] = await receiver.until(1);
  expect(JSON.parse(request?.body ?? '')).toEqual({ n: 3 });
  await page.getByRole('tab', { name: 'Settings' }).click();
  await page.getByRole('combobox', { name: 'Order' }).selectOption('fifo');
  await page.getByRole('textbox', { name: 'Ordering key' }).fill('order.id');
  await page.getByRole('spinbutton', { name: 'Attempts a second' }).fill('20');
  await page.getByRole('checkbox', { name: 'Fewer attempts a second' }).check();
  await picture(page, 'webhook-order');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Save order and rate' }).click();
  await eventually(async () => (await headwater.api('GET', `/webhooks/${id}`)).data.rate_per_second === 20);
  expect((await headwater.api('GET', `/webhooks/${id}`)).data).toMatchObject({
    active: true,
    ordering: 'fifo',
    ordering_key: 'order.id',
    max_in_flight: null,
    adaptive_rate: true,
    current_rate_per_second: 20,
  });
  check();
  await receiver.stop();
});
