import { afterAll, beforeAll, expect, test } from 'vitest';
import { signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';

let headwater: Headwater;
let browser: TestBrowser;

beforeAll(async () => {
  [headwater, browser] = await Promise.all([startHeadwater({ web: true, basePath: '/tools/hw' }), startBrowser()]);
});
afterAll(async () => {
  await browser.stop();
  await headwater.stop();
});

test('below a base path pages, links, the session and live events stay below it', async () => {
  const source = await headwater.deploy(`export default { name: 'Below', version: '1',
    props: { http: '$.interface.http' }, run(event) { this.$emit(event.body, { summary: event.body.text }); } };`);
  expect(source.endpoint).toContain(`${headwater.url}/e/`);
  const { page, check } = await browser.open();
  const outside: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(`${headwater.url}/`) && request.url() !== headwater.url) outside.push(request.url());
  });
  await signIn(page, `${headwater.url}/sources`, headwater.apiKey);
  await page.getByRole('row', { name: /Below/ }).click();
  await page.getByText('Live', { exact: true }).waitFor();
  const headers = { 'content-type': 'application/json' };
  await fetch(source.endpoint, { method: 'POST', headers, body: '{"text":"it came"}' });
  await page.getByRole('row', { name: /it came/ }).waitFor();
  expect(page.url()).toBe(`${headwater.url}/sources/${source.id}`);
  // A deep link, and the cookie, which is sent below the base path alone.
  await page.reload();
  await page.getByRole('row', { name: /it came/ }).waitFor();
  for (const { path } of await page.context().cookies()) expect(path).toMatch(/^\/tools\/hw\//);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('textbox', { name: 'API key' }).waitFor();
  expect(page.url()).toContain(`${headwater.url}/sign-in`);
  expect(outside).toEqual([]);
  check();
});
