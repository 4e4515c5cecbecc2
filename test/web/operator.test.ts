import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
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

test('the operator sees nodes, queues and noisy accounts, and sets a limit of one', async () => {
  const source = await headwater.deploy(`export default { name: 'Noise', version: '1.0.0', async run() {} };`);
  for (let i = 0; i < 3; i++) await headwater.api('POST', `/sources/${source.id}/run`, { event: {} });
  for (const path of ['/nodes', '/stats/accounts']) expect((await headwater.api('GET', path)).status).toBe(403);
  const { page, check } = await browser.open();
  await signIn(page, headwater.url, `hw_${'a'.repeat(32)}`);
  await page
    .getByRole('table', { name: 'Nodes' })
    .getByRole('row', { name: /node_.*alive.*all/ })
    .waitFor();
  await page.getByText('Sandbox processes', { exact: true }).waitFor();
  const noisy = page.getByRole('table', { name: 'Activity' }).getByRole('row', { name: /Default 3/ });
  await noisy.waitFor();
  await expectAccessible(page);
  await noisy.click();
  await page.getByRole('searchbox', { name: 'Search limits' }).fill('maxSources');
  await page
    .getByRole('table', { name: 'Limits' })
    .getByRole('row', { name: /^maxSources/ })
    .click();
  await page.getByRole('spinbutton', { name: 'maxSources' }).fill('7');
  // Another limit is no conflict, the same one is.
  await headwater.limit({ maxWebhooks: 90 });
  await page.getByRole('button', { name: 'Set limit' }).click();
  await page
    .getByRole('table', { name: 'Limits' })
    .getByRole('row', { name: /^maxSources 7/ })
    .waitFor();
  await headwater.limit({ maxSources: 9 });
  await page.getByRole('button', { name: 'Set limit' }).click();
  const conflict = page.getByRole('dialog', { name: 'Somebody else changed this meanwhile' });
  await conflict.getByText('maxSources: 9').waitFor();
  await conflict.getByRole('button', { name: 'Save mine over it' }).click();
  await conflict.waitFor({ state: 'detached' });
  await page
    .getByRole('table', { name: 'Limits' })
    .getByRole('row', { name: /^maxSources 7/ })
    .waitFor();
  expect((await headwater.api('GET', '/users/me')).data.quotas.sources.limit).toBe(7);
  await picture(page, 'operator');
  await page.getByRole('button', { name: 'Suspend account' }).click();
  await page.getByRole('button', { name: 'Suspend', exact: true }).click();
  await page.getByRole('button', { name: 'Resume account' }).waitFor();
  expect((await headwater.api('POST', `/sources/${source.id}/run`, { event: {} })).status).toBe(403);
  await page.getByRole('button', { name: 'Resume account' }).click();
  await page.getByRole('button', { name: 'Suspend account' }).waitFor();
  await page.getByRole('textbox', { name: 'Name of the account' }).fill('Renamed');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page
    .getByRole('table', { name: 'Accounts' })
    .getByRole('row', { name: /^Renamed/ })
    .waitFor();
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByText('Its new key, shown this once').waitFor();
  const { data: doomed } = await headwater.admin('POST', '/tenants', { name: 'Doomed' });
  await page.goto(`${headwater.url}/operator?account=${doomed.id}`);
  await page.getByRole('button', { name: 'Delete account' }).click();
  await page.getByRole('button', { name: 'Delete for good' }).click();
  await expect.poll(async () => (await headwater.as(doomed.api_key)('GET', '/users/me')).status).toBe(401);
  await page.goto(`${headwater.url}/operator?account=${headwater.accountId}`);
  await page.getByRole('button', { name: 'Suspend account' }).waitFor();
  await expectAccessible(page);
  await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
  await expectAccessible(page);
  await page.getByRole('searchbox', { name: 'Search limits' }).fill('maxSources');
  await page
    .getByRole('table', { name: 'Limits' })
    .getByRole('row', { name: /^maxSources/ })
    .click();
  await page.getByRole('button', { name: 'Back to the default' }).click();
  await expect.poll(async () => (await headwater.api('GET', '/users/me')).data.quotas.sources.limit).not.toBe(7);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  check();
}, 120_000);

test('the operator sets the OAuth client that accounts without their own use, and deletes it', async () => {
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/operator`, `hw_${'a'.repeat(32)}`);
  await page.getByRole('textbox', { name: 'App', exact: true }).fill('github');
  await page.getByRole('textbox', { name: 'Client id' }).fill('client-of-the-instance');
  await page.getByLabel('Client secret').fill('hush');
  await page.getByRole('button', { name: 'Set the client' }).click();
  await page.getByText('use client-of-the-instance for github').waitFor();
  expect(await page.getByLabel('Client secret').inputValue()).toBe('');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Delete the client' }).click();
  await page.getByText('The instance has no client for github').waitFor();
  await page.getByRole('textbox', { name: 'App', exact: true }).fill('no-such-app');
  await page.getByRole('button', { name: 'Set the client' }).click();
  await page.getByRole('alert').waitFor();
  check();
});
