import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
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

test('from an empty instance to a first delivery in three clicks, then to a URL of the user', async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.stop);
  const { page, check } = await browser.open();
  const empty = await headwater.newAccount();
  await signIn(page, empty.url, empty.apiKey);
  await page.getByRole('heading', { name: 'Receive a first event' }).waitFor();
  await picture(page, 'overview-empty');
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Start' }).click();
  await page.getByRole('button', { name: /^Request bin/ }).waitFor();
  await picture(page, 'first-run');
  await expectAccessible(page);
  // One: a source. Two: an event. Three: a delivery.
  await page.getByRole('button', { name: /^Request bin/ }).click();
  await page.getByRole('button', { name: 'Send a test request' }).click();
  await page.getByRole('list', { name: 'Events' }).getByRole('listitem').waitFor();
  await page.getByRole('button', { name: 'Deliver to the sample receiver' }).click();
  const received = page.getByRole('table', { name: 'Received' });
  await received.getByText('signature verified').waitFor();
  await received.getByRole('row').nth(1).click();
  await page.getByText('webhook-signature').waitFor();
  await picture(page, 'first-run-delivered');
  await expectAccessible(page);
  await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
  await expectAccessible(page);
  // A link shows the same again.
  await page.reload();
  await received.getByText('signature verified').waitFor();
  await page.getByRole('link', { name: 'Open the sample receiver' }).click();
  await page.getByRole('heading', { name: 'Sample receiver', level: 1 }).waitFor();
  await received.getByRole('row').nth(1).click();
  await page.getByRole('tree', { name: 'Body' }).getByText('"world"').waitFor();
  await picture(page, 'sample-receiver');
  await expectAccessible(page);
  await page.goBack();
  await page.getByRole('textbox', { name: 'URL of your receiver' }).fill(receiver.url);
  await page.getByRole('button', { name: 'Use this URL' }).click();
  await page.getByText('Events now go to your URL').waitFor();
  await page.getByRole('button', { name: 'Send a test request' }).click();
  const [request] = await receiver.until(1);
  expect(request?.headers['webhook-signature']).toMatch(/^v1,/);
  expect(await received.getByRole('row').count()).toBe(2);
  check();
}, 180_000);

test('a feed and pasted code are sources as well; the steps fit on a phone and need no mouse', async () => {
  const { page, check } = await browser.open({ viewport: { width: 390, height: 844 } });
  await signIn(page, `${headwater.url}/first-run`, headwater.apiKey);
  await page.getByRole('button', { name: /^RSS feed/ }).click();
  await page.getByRole('textbox', { name: 'Feed URL' }).waitFor();
  await page.getByRole('button', { name: /^Paste code/ }).click();
  await page.getByRole('button', { name: 'Create source' }).waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await expectAccessible(page);
  await page.getByRole('button', { name: /^Schedule/ }).focus();
  await page.keyboard.press('Enter');
  const run = page.getByRole('button', { name: 'Run now' });
  await run.waitFor();
  await run.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('list', { name: 'Events' }).getByRole('listitem').first().waitFor();
  const deliver = page.getByRole('button', { name: 'Deliver to the sample receiver' });
  await deliver.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('table', { name: 'Received' }).getByText('signature verified').first().waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await picture(page, 'first-run-phone');
  await expectAccessible(page);
  check();
}, 180_000);
