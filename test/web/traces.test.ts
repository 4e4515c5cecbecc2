import { afterAll, beforeAll, test } from 'vitest';
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

test('a trace shows which listeners got an event, and why another did not', async () => {
  const receiver = await startReceiver();
  const source = await headwater.deploy(`export default {
    name: 'Orders', version: '1.0.0', props: { http: '$.interface.http' },
    async run(event) { console.log('an order came'); this.$emit(event.body, { summary: 'Order 7' }); },
  };`);
  const subscribe = async (name: string, filter?: object) => {
    const { data } = await headwater.api('POST', '/webhooks', { url: receiver.url, name });
    await headwater.api('POST', '/subscriptions', {
      emitter_id: source.id,
      listener_id: data.id,
      ...(filter && { filter }),
    });
  };
  await subscribe('Warehouse');
  await subscribe('Accounting', { order: 8 });
  await fetch(source.endpoint, {
    method: 'POST',
    body: '{"order":7}',
    headers: { 'content-type': 'application/json' },
  });
  await receiver.until(1);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources/${source.id}`, headwater.apiKey);
  await page.getByRole('row', { name: 'Order 7' }).click();
  await page.getByRole('link', { name: /^inv_/ }).click();
  await page.getByRole('row', { name: /Warehouse.*delivered/ }).waitFor();
  await page.getByRole('row', { name: /Accounting: its filter did not match/ }).waitFor();
  await page
    .getByRole('row', { name: /Orders/ })
    .first()
    .click();
  await page.getByText('an order came', { exact: true }).waitFor();
  await expectAccessible(page);
  await picture(page, 'trace');
  // Without an id one begins at what came in last.
  await page.getByRole('link', { name: 'Traces', exact: true }).click();
  await page
    .getByRole('table', { name: 'Newest events' })
    .getByRole('row', { name: /Order 7 Orders/ })
    .click();
  await page.getByRole('row', { name: /Warehouse.*delivered/ }).waitFor();
  check();
  await receiver.stop();
});
