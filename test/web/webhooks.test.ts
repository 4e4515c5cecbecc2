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

test('a failed delivery is found, its attempt is read, and it is delivered again', async () => {
  const receiver = await startReceiver();
  const source = await headwater.deploy(`export default {
    name: 'Orders', version: '1.0.0', props: { http: '$.interface.http' },
    async run(event) { this.$emit(event.body); },
  };`);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks`, headwater.apiKey);
  await page.getByRole('button', { name: 'New webhook' }).first().click();
  await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url);
  await page.getByRole('textbox', { name: 'Name' }).fill('Warehouse');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByRole('heading', { name: 'Warehouse', level: 1 }).waitFor();
  const id = page.url().split('/').at(-1)?.split('?')[0] ?? '';
  await headwater.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  receiver.script({ status: 400, body: 'no such warehouse' });
  await fetch(source.endpoint, {
    method: 'POST',
    body: '{"order":1}',
    headers: { 'content-type': 'application/json' },
  });
  await receiver.until(1);
  await page.getByRole('table', { name: 'Deliveries' }).getByRole('row').nth(1).click();
  await page.getByText('no such warehouse').waitFor();
  await picture(page, 'delivery');
  await expectAccessible(page);
  // The retry comes by itself; what was delivered goes out once more at a click.
  await page.getByRole('listitem').getByText('HTTP 200').waitFor();
  await page.getByRole('button', { name: 'Redeliver' }).click();
  const requests = await receiver.until(3);
  expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  check();
  await receiver.stop();
});
