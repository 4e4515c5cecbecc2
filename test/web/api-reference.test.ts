import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';

let headwater: Headwater;
let browser: TestBrowser;
beforeAll(async () => {
  [headwater, browser] = await Promise.all([startHeadwater({ web: true }), startBrowser()]);
});
afterAll(async () => {
  await browser.stop();
  await headwater.stop();
});

test('the API reference shows every operation of the server, without a sign-in and from this server alone', async () => {
  const { page, check } = await browser.open();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).origin));
  await page.goto(`${headwater.url}/docs`);
  await page.getByRole('heading', { name: 'Webhooks', level: 2 }).waitFor();
  const document = (await (await fetch(`${headwater.url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods));
  expect(await page.locator('details').count()).toBe(operations.length);
  await page.getByRole('searchbox', { name: 'Search operations' }).fill('createWebhook');
  await page.getByText('/v1/webhooks', { exact: true }).first().click();
  await page.getByText("curl -X POST '").first().waitFor();
  await expectAccessible(page);
  await picture(page, 'api-reference');
  await page.getByRole('searchbox', { name: 'Search operations' }).fill('no such words');
  await page.getByText('No operation has these words').waitFor();
  expect(new Set(asked)).toEqual(new Set([headwater.url]));
  check();
});
