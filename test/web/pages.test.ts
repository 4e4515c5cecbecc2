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

const PAGES = [
  'Overview',
  'Sources',
  'Workflows',
  'Events',
  'Webhooks',
  'Traces',
  'Registry',
  'Connections',
  'Data',
  'Settings',
];

test('every page of the navigation is there, in both themes, also on a phone, without a finding of axe', async () => {
  const { page, check } = await browser.open();
  await signIn(page, headwater.url, headwater.apiKey);
  for (const name of PAGES) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0);
    await picture(page, `page-${name.toLowerCase()}`);
    await expectAccessible(page);
    await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
    await expectAccessible(page);
    await page.evaluate(`document.documentElement.dataset.theme = 'light'`);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Sources', exact: true }).click();
  await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await picture(page, 'page-sources-phone');
  await expectAccessible(page);
  check();
});

test('the palette goes to anything by its name or its id, with the keyboard alone', async () => {
  const source = await headwater.deploy(`export default { name: 'Ledger', version: '1.0.0', async run() {} }`);
  const { page, check } = await browser.open();
  await signIn(page, headwater.url, headwater.apiKey);
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox', { name: 'Name or id' }).fill('ledg');
  await page.getByRole('option', { name: /Ledger/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Ledger', level: 1 }).waitFor();
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox', { name: 'Name or id' }).fill(source.id);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Ledger', level: 1 }).waitFor();
  check();
});

test('a key is made, shown once, and revoked', async () => {
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/settings`, headwater.apiKey);
  await page.getByRole('textbox', { name: 'Key name' }).fill('from CI');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('it is not shown again').waitFor();
  await page.getByRole('button', { name: 'Revoke from CI' }).click();
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByRole('row', { name: /from CI.*revoked/ }).waitFor();
  check();
});

test('the operator signs in with the admin key, makes an account, and sees no page of an account', async () => {
  const { page, check } = await browser.open();
  await signIn(page, headwater.url, `hw_${'a'.repeat(32)}`);
  await page.getByRole('heading', { name: 'Operator', level: 1 }).waitFor();
  await page.getByRole('textbox', { name: 'Account name' }).fill('Second tenant');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('shown this once').waitFor();
  await page.getByRole('row', { name: /Second tenant/ }).waitFor();
  expect(await page.getByRole('link', { name: 'Sources', exact: true }).count()).toBe(0);
  await expectAccessible(page);
  check();
});
