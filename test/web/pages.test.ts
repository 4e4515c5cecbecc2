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

const OAUTH = {
  authorize_url: 'https://acme.example/authorize',
  token_url: 'https://acme.example/token',
  scopes: [],
  pkce: true,
  token_auth: 'none',
};

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

test('every page of the navigation is there, and on a phone behind its menu', async () => {
  const { page, check } = await browser.open();
  await signIn(page, headwater.url, headwater.apiKey);
  for (const name of PAGES) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Menu' }).click();
  await picture(page, 'menu-phone');
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Sources', exact: true }).click();
  await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
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

test('a key searches the list, and a dialog gives the focus back to what opened it', async () => {
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks`, headwater.apiKey);
  const create = page.getByRole('button', { name: 'New webhook' }).first();
  await create.waitFor();
  await page.keyboard.press('/');
  const label = () => page.evaluate('document.activeElement?.getAttribute("aria-label")');
  await expect.poll(label).toBe('Search webhooks');
  await create.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('textbox', { name: 'URL' }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.evaluate('document.activeElement?.innerText')).toBe('New webhook');
  check();
});

test('the palette and the lists find what is not among the newest', async () => {
  await headwater.api('POST', '/webhooks', { url: 'https://example.com/oldest', name: 'Oldest of all' });
  const newer = Array.from({ length: 101 }, (_, at) => at);
  for (const at of newer)
    await headwater.api('POST', '/webhooks', { url: 'https://example.com/', name: `Newer ${at}` });
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks`, headwater.apiKey);
  await page.getByRole('row', { name: 'Newer 100' }).waitFor();
  await page.getByRole('searchbox', { name: 'Search webhooks' }).fill('OLDEST');
  await page.getByRole('row', { name: 'Oldest of all' }).waitFor();
  expect(page.url()).toContain('q=OLDEST');
  await page.getByRole('searchbox', { name: 'Search webhooks' }).fill('nowhere');
  await page.getByText('No webhook matches').waitFor();
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox', { name: 'Name or id' }).fill('all oldest');
  await page.getByRole('option', { name: /Oldest of all/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Oldest of all', level: 1 }).waitFor();
  const { data: source } = await headwater.api('POST', '/sources', { kind: 'ingest', name: 'Feed' });
  await page.goto(`${headwater.url}/sources/${source.id}?tab=listeners`);
  await page.getByRole('combobox', { name: 'Listener' }).selectOption({ label: 'Oldest of all' });
  await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
  await page.getByRole('row', { name: /Oldest of all/ }).waitFor();
  for (const at of newer.slice(0, 50))
    await headwater.api('POST', '/sources', { kind: 'ingest', name: `Newer feed ${at}` });
  await page.goto(`${headwater.url}/workflows/new`);
  await page.getByRole('combobox', { name: 'Starts at' }).selectOption('source');
  await page.getByRole('combobox', { name: 'Source', exact: true }).selectOption({ label: 'Feed' });
  await page.getByText('events of Feed').waitFor();
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

test('an OAuth client of the account is set, changed and deleted', async () => {
  const app = { name_slug: 'acme', name: 'Acme', auth_type: 'oauth2', oauth: OAUTH };
  expect((await headwater.api('POST', '/apps', app)).status).toBe(200);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/settings?tab=oauth`, headwater.apiKey);
  await page.getByText(`${headwater.url}/oauth/callback`).waitFor();
  await page.getByRole('combobox', { name: 'App' }).fill('acme');
  await page.getByRole('textbox', { name: 'Client id' }).fill('first');
  await page.getByRole('textbox', { name: 'Client secret' }).fill('a-secret');
  await page.getByRole('button', { name: 'Set client' }).click();
  await page.getByRole('row', { name: /Acme.*first.*stored/ }).waitFor();
  await page.getByRole('button', { name: 'Change client of Acme' }).click();
  await page.getByRole('textbox', { name: 'Client id' }).fill('second');
  await page.getByRole('button', { name: 'Set client' }).click();
  await page.getByRole('row', { name: /Acme.*second.*none/ }).waitFor();
  expect((await headwater.api('GET', '/users/me/oauth_clients')).data).toMatchObject([{ client_id: 'second' }]);
  await page.getByRole('button', { name: 'Delete client of Acme' }).click();
  await page.getByRole('button', { name: 'Delete client', exact: true }).click();
  await page.getByText('No clients of your own').waitFor();
  check();
});

test('the versions of a component are in its dialog, each with its code', async () => {
  for (const version of ['1.0.0', '1.1.0']) {
    const code = `export default { key: 'acme-orders', name: 'Orders', type: 'source', version: '${version}', run() {} };`;
    const { data } = await headwater.api('POST', '/components', { component_code: code });
    const published = await headwater.admin('POST', '/registry/components', { component_id: data.id });
    expect(published.status).toBe(200);
  }
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/registry?key=acme-orders`, headwater.apiKey);
  const dialog = page.getByRole('dialog', { name: 'Orders' });
  const code = dialog.getByRole('textbox', { name: 'Code' });
  await code.getByText("version: '1.1.0'").waitFor();
  await dialog.getByRole('combobox', { name: 'Version' }).selectOption('1.0.0');
  await code.getByText("version: '1.0.0'").waitFor();
  expect(page.url()).toContain('version=1.0.0');
  await dialog.getByRole('link', { name: 'Deploy as a source' }).click();
  await page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor();
  const id = page.url().split('/').at(-1) ?? '';
  const { data: source } = await headwater.api('GET', `/sources/${id}`);
  expect((await headwater.api('GET', `/components/${source.component_id}`)).data.version).toBe('1.0.0');
  check();
});

test('an action of the registry shows its props, and becomes a step of a new workflow', async () => {
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/registry?key=http-send-request`, headwater.apiKey);
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('region', { name: 'Props' }).getByText('url: string').waitFor();
  await dialog.getByRole('button', { name: 'Use in a new workflow' }).click();
  await page.getByRole('heading', { name: 'New workflow' }).waitFor();
  await page.getByRole('textbox', { name: 'URL', exact: true }).fill('https://example.com/orders');
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();
  await page.getByRole('heading', { name: 'My workflow' }).waitFor();
  const { data: workflow } = await headwater.api('GET', `/workflows/${page.url().split('/').at(-1)?.split('?')[0]}`);
  expect(workflow.steps).toMatchObject([{ props: { url: 'https://example.com/orders' } }]);
  check();
});

test('a record that was changed meanwhile is shown before it is replaced', async () => {
  const { data: store } = await headwater.api('POST', '/data_stores', { name: 'Stock' });
  const put = (value: unknown) => headwater.api('PUT', `/data_stores/${store.id}/record`, { key: 'weir', value });
  const now = async () => (await headwater.api('GET', `/data_stores/${store.id}/record`, { key: 'weir' })).data.value;
  await put(1);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/data?store=${store.id}`, headwater.apiKey);
  await page.getByRole('row', { name: /weir/ }).click();
  await page.getByRole('textbox', { name: 'Value' }).fill('3');
  await put(2);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const conflict = page.getByRole('dialog', { name: 'Somebody else changed this meanwhile' });
  await conflict.getByRole('button', { name: 'Save mine over it' }).waitFor();
  await expectAccessible(page);
  expect(await now()).toBe(2);
  await conflict.getByRole('button', { name: 'Save mine over it' }).click();
  await expect.poll(now).toBe(3);
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

test('each action of a page can be copied for the terminal', async () => {
  const source = await headwater.deploy(`export default { name: 'Nightly', version: '1.0.0', run() {} };`);
  const { page, check } = await browser.open({ permissions: ['clipboard-read', 'clipboard-write'] });
  await signIn(page, `${headwater.url}/sources/${source.id}`, headwater.apiKey);
  const copied = async (item: string) => {
    await page.getByRole('button', { name: 'Copy as command' }).first().click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
    await page.getByRole('menu').waitFor({ state: 'detached' });
    return page.evaluate('navigator.clipboard.readText()');
  };
  await page.getByRole('button', { name: 'Copy as command' }).first().click();
  await page.getByRole('menuitem', { name: 'Delete as curl' }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  expect(await copied('Copy as hw')).toBe(`hw describe ${source.id}`);
  expect(await copied('Run now as curl')).toBe(
    `curl -X POST '${headwater.url}/v1/sources/${source.id}/run' -H "Authorization: Bearer $HEADWATER_API_KEY" ` +
      `-H 'Content-Type: application/json' -d '{}'`,
  );
  expect(await copied('Deactivate as hw')).toBe(`hw update ${source.id} --deactivate`);
  check();
});

test('an account passes on the traces of its callers from the moment in which a box is ticked', async () => {
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/settings?tab=traces`, headwater.apiKey);
  const box = page.getByRole('checkbox', { name: /Pass on traces of callers/ });
  await box.check();
  const settings = () => headwater.api('GET', '/users/me/settings');
  await expect.poll(async () => (await settings()).data).toMatchObject({ trace_context: true });
  await expectAccessible(page);
  await page.reload();
  await expect.poll(() => box.isChecked()).toBe(true);
  await box.uncheck();
  await expect.poll(async () => (await settings()).data).toMatchObject({ trace_context: false });
  check();
});
