import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { makeMember, PASSWORD } from '../support/members.ts';

let headwater: Headwater;
let browser: TestBrowser;

beforeAll(async () => {
  [headwater, browser] = await Promise.all([startHeadwater({ web: true }), startBrowser()]);
});
afterAll(async () => {
  await browser.stop();
  await headwater.stop();
});

test('a viewer is invited, accepts, cannot create, and is out once removed', async () => {
  const admin = await browser.open();
  await signIn(admin.page, `${headwater.url}/settings?tab=members`, headwater.apiKey);
  await admin.page.getByLabel('E-mail of the member').fill('vera@example.com');
  await admin.page.getByLabel('Role', { exact: true }).selectOption('viewer');
  await admin.page.getByRole('button', { name: 'Invite', exact: true }).click();
  const link = (await admin.page.getByText('/invitation#token=hw_invite_').textContent()) ?? '';
  await expectAccessible(admin.page);

  const { page, check } = await browser.open();
  await page.goto(link);
  await page.getByText('You are invited to').waitFor();
  await expectAccessible(page);
  await picture(page, 'invitation');
  await page.getByLabel('Name').fill('Vera');
  await page.getByLabel('Password').fill('short');
  await page.getByRole('button', { name: 'Accept and sign in' }).click();
  await page.getByText('must have 10 to 256 characters').first().waitFor();
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Accept and sign in' }).click();
  await page.getByText('vera@example.com · viewer').waitFor();
  expect(page.url()).not.toContain('hw_invite_');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('E-mail', { exact: true }).fill('vera@example.com');
  await page.getByLabel('Password').fill('wrong password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The e-mail address or the password is wrong').waitFor();
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('vera@example.com · viewer').waitFor();

  await page.getByRole('link', { name: 'Webhooks' }).click();
  const create = page.getByRole('button', { name: 'New webhook' }).first();
  await create.waitFor();
  expect([await create.isDisabled(), await create.getAttribute('title')]).toEqual([
    true,
    expect.stringContaining('Your role in this account is viewer'),
  ]);
  await page.goto(`${headwater.url}/settings?tab=access`);
  await page.getByRole('table', { name: 'Sessions' }).waitFor();
  await expectAccessible(page);
  await picture(page, 'own-access');

  await admin.page.reload();
  await admin.page.getByRole('button', { name: 'Remove vera@example.com' }).click();
  await picture(admin.page, 'members');
  await admin.page.getByRole('button', { name: 'Remove member' }).click();
  await admin.page.getByText('No members yet').waitFor();
  await page.getByRole('link', { name: 'Sources' }).click();
  await page.getByText('Your session has ended').waitFor();
  admin.check();
  check();
});

test('a member of two accounts chooses which one the page shows', async () => {
  const other = await headwater.newAccount();
  await headwater.api('POST', '/webhooks', { url: 'http://127.0.0.1:2/', name: 'Of the first' });
  await makeMember(headwater, 'two@example.com', 'owner');
  await makeMember(other, 'two@example.com', 'viewer');
  const { page, check } = await browser.open();
  await page.goto(`${headwater.url}/webhooks`);
  await page.getByRole('button', { name: 'E-mail and password' }).click();
  await page.getByLabel('E-mail', { exact: true }).fill('two@example.com');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Of the first').waitFor();
  await page.getByLabel('Account').selectOption(other.accountId);
  await page.getByText('two@example.com · viewer').waitFor();
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByRole('button', { name: 'New webhook' }).first().waitFor();
  expect(await page.getByText('Of the first').count()).toBe(0);
  check();
});
