import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';

const RUNS = 400;

let headwater: Headwater;
let browser: TestBrowser;

beforeAll(async () => {
  [headwater, browser] = await Promise.all([startHeadwater({ web: true }), startBrowser()]);
});
afterAll(async () => {
  await browser.stop();
  await headwater.stop();
});

/** Runs in the page. */
const isFocused = (node: unknown) => (node as { matches(selector: string): boolean }).matches(':focus');

async function showAll(page: Page): Promise<void> {
  const table = page.getByRole('table', { name: 'Abandoned runs' });
  const more = page.getByRole('button', { name: 'Show more' });
  await table.waitFor();
  while (Number(await table.getAttribute('aria-rowcount')) <= RUNS) await more.click();
}

test('a long list draws the rows in view, is scrolled to its end, and is walked with the keyboard', async () => {
  const source = await headwater.deploy(`export default { name: 'Orders', version: '1.0.0', run() {} };`);
  await headwater.sql`
    insert into abandoned_runs (id, account_id, source_id, kind, hops, event, error_message)
    select 'inv_' || lpad(at::text, 20, '0'), ${headwater.accountId}, ${source.id}, 'http', 0, '{}', 'reason ' || at
    from generate_series(1, ${RUNS}::int) as at`;
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/runs`, headwater.apiKey);
  await showAll(page);
  const rows = page.getByRole('table', { name: 'Abandoned runs' }).getByRole('row');
  expect(await rows.count()).toBeLessThan(120);
  await expectAccessible(page);
  const row = (nth: number) => page.locator(`[aria-rowindex="${nth + 1}"]`);
  await page.evaluate(`document.querySelector('main').scrollTop = 0`);
  await expect.poll(async () => (await row(1).boundingBox())?.y ?? -1).toBeGreaterThan(0);
  await page.keyboard.press('j');
  await expect.poll(() => row(1).evaluate(isFocused)).toBe(true);
  await page.evaluate(`document.querySelector('main').scrollTop = 1e6`);
  await row(RUNS).waitFor();
  await expect.poll(async () => (await row(RUNS).boundingBox())?.y ?? Infinity).toBeLessThan(900);
  // From where the focus is, which the reader has scrolled away from.
  await page.keyboard.press('j');
  await expect.poll(() => row(2).evaluate(isFocused)).toBe(true);
  await expect.poll(async () => (await row(2).boundingBox())?.y ?? -1).toBeGreaterThan(0);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Run inv_/ }).waitFor();
  await page.getByText(/^RUN_ABANDONED/).waitFor();
  check();
});
