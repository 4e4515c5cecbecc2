import type { Page } from 'playwright-core';
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

/** Words of buttons that change something. The builder deletes its step `one` in the page alone. */
const CHANGES = new RegExp(
  '^(Run|Deactivate|Activate|Pause|Resume|Delete(?! one)|Publish|Replay|Unsubscribe|Subscribe|Retry|Send|Redeliver|Skip' +
    '|Reveal|Rotate|Save|Deploy|Test|Preview|Connect|Check|Set|Invite|Create|Request bin|Schedule)',
);

/** Screens with a button that changes something, and such a button of each. */
async function fillScreens(): Promise<[path: string, shows: string][]> {
  const source = await headwater.deploy(`export default { name: 'Read', version: '1', run() { this.$emit(1); } };`);
  const { data: webhook } = await headwater.api('POST', '/webhooks', {
    url: 'http://127.0.0.1:2/',
    name: 'Read as well',
  });
  const { data: workflow } = await headwater.api('POST', '/workflows', {
    name: 'Only read',
    triggers: [{ type: 'http' }],
    steps: [{ namespace: 'one', component_code: 'export default { run() {} };' }],
  });
  await headwater.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  await headwater.api('POST', `/sources/${source.id}/run`, {});
  await headwater.api('PUT', '/environment_variables/READ', { value: 'x' });
  return [
    [`/sources/${source.id}`, 'Publish an event'],
    [`/sources/${source.id}?tab=configuration`, 'Deploy'],
    [`/sources/${source.id}?tab=listeners`, 'Unsubscribe Read as well'],
    [`/workflows/${workflow.id}`, 'Pause'],
    [`/workflows/${workflow.id}?tab=build&step=one`, 'Test up to here'],
    [`/workflows/${workflow.id}?tab=settings`, 'Save'],
    [`/webhooks/${webhook.id}`, 'Send all failed again'],
    [`/webhooks/${webhook.id}?tab=subscriptions`, 'Unsubscribe from Read'],
    [`/webhooks/${webhook.id}?tab=settings`, 'Rotate secret'],
    ['/connections', 'Connect Airtable'],
    ['/settings?tab=environment', 'Delete READ'],
    ['/settings?tab=members', 'Invite'],
    ['/first-run', 'Request bin'],
  ];
}

async function expectNothingRefused(page: Page, screens: [path: string, shows: string][]): Promise<void> {
  for (const [path, shows] of screens) {
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
    await page.getByRole('button', { name: shows }).first().waitFor();
    const main = page.locator('main');
    const refused = await main.getByRole('button', { name: CHANGES, disabled: true }).count();
    const offered = await main.getByRole('button', { name: CHANGES, disabled: false }).allTextContents();
    expect({ path, isRefused: refused > 0, offered }).toEqual({ path, isRefused: true, offered: [] });
  }
}

test('nothing that a viewer can click would only be refused, and the page says why', async () => {
  const screens = await fillScreens();
  await makeMember(headwater, 'reads@example.com', 'viewer');
  const { page, check } = await browser.open();
  await page.goto(headwater.url);
  await page.getByRole('button', { name: 'E-mail and password' }).click();
  await page.getByLabel('E-mail', { exact: true }).fill('reads@example.com');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('As a viewer of this account you read everything').waitFor();
  await expectNothingRefused(page, screens);
  check();
});

test('a key to read is offered nothing that would be refused, and keys that cannot read say so', async () => {
  const screens = await fillScreens();
  const { page, check } = await browser.open();
  await page.goto(headwater.url);
  const enter = async (parameters: Record<string, unknown>) => {
    const { data } = await headwater.api('POST', '/api_keys', { name: 'narrow', ...parameters });
    await page.getByRole('textbox', { name: 'API key' }).fill(data.api_key);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  for (const scope of ['publish', 'deploy', 'webhooks']) {
    await enter({ scopes: [scope] });
    await page.getByText(`The scope of your API key is ${scope}. These pages show the whole account`).waitFor();
  }
  const resource = screens[0]![0].replace('/sources/', '');
  await enter({ scopes: ['full'], resource });
  await page.getByText(`The scope of your API key is full, for ${resource} alone.`).waitFor();
  await expectAccessible(page);
  await enter({ scopes: ['read'] });
  await page.getByText('With your API key, whose scope is read').waitFor();
  await expectNothingRefused(page, screens);
  const invite = page.getByRole('button', { name: 'Invite', exact: true });
  await page.goto(`${headwater.url}/settings?tab=members`);
  await invite.waitFor();
  expect(await invite.getAttribute('title')).toBe('The scope of your API key is read, which does not include this.');
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
