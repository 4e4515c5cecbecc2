import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';

const SOURCES = 12;

let headwater: Headwater;
let browser: TestBrowser;

beforeAll(async () => {
  [headwater, browser] = await Promise.all([startHeadwater({ web: true }), startBrowser()]);
});
afterAll(async () => {
  await browser.stop();
  await headwater.stop();
});

async function make(path: string, parameters: Record<string, unknown>): Promise<string> {
  const { status, data, text } = await headwater.api('POST', path, parameters);
  if (status !== 200) throw new Error(text);
  return data.id;
}

test('the picture of subscriptions is narrowed by a name and to one end, by keyboard', async () => {
  const shop = await make('/webhooks', { url: 'https://example.com/shop', name: 'Shop' });
  const books = await make('/webhooks', { url: 'https://example.com/books', name: 'Books' });
  for (let at = 0; at < SOURCES; at++) {
    const source = await make('/sources', { kind: 'ingest', name: `Till ${at}` });
    for (const listener of at === 3 ? [shop, books] : [shop])
      await make('/subscriptions', { emitter_id: source, listener_id: listener });
  }
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/subscriptions`, headwater.apiKey);
  await page.getByRole('img', { name: `${SOURCES + 1} subscriptions` }).waitFor();
  await page.getByRole('searchbox', { name: 'Search either end' }).fill('books');
  await page.getByRole('img', { name: '1 subscriptions: ' }).waitFor();
  await page.getByRole('button', { name: 'Only Till 3' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('searchbox', { name: 'Search either end' }).fill('');
  await page.getByRole('img', { name: '2 subscriptions: ' }).waitFor();
  expect(await page.getByRole('table', { name: 'Subscriptions' }).getByRole('row').count()).toBe(3);
  await expectAccessible(page);
  await page.getByRole('searchbox', { name: 'Search either end' }).fill('nowhere');
  await page.getByRole('button', { name: 'Clear the search' }).click();
  await page.getByRole('img', { name: `${SOURCES + 1} subscriptions` }).waitFor();
  check();
});

test('the key of the operator stays signed in where a link leads to a page of an account', async () => {
  const { page, check } = await browser.open();
  await signIn(page, headwater.url, `hw_${'a'.repeat(32)}`);
  await page.getByRole('table', { name: 'Accounts', exact: true }).waitFor();
  await page.goto(`${headwater.url}/webhooks`);
  await page.getByRole('table', { name: 'Accounts', exact: true }).waitFor();
  check();
});
