import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { startFileServer } from '../support/file-server.ts';
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

const succeeded = async (page: Page) => {
  await page.getByRole('tab', { name: 'Executions' }).click();
  await page
    .getByRole('table', { name: 'Executions' })
    .getByRole('row', { name: /succeeded/ })
    .first()
    .click();
  await page.getByRole('heading', { name: 'Execution', level: 1 }).waitFor();
};

test('a workflow is built with a source that is made for it, and a step whose code is at a URL', async () => {
  const server = await startFileServer();
  server.serve(
    '/shout.mjs',
    `export default { name: 'Shout', version: '1.0.0', type: 'action',
    props: { words: { type: 'string', label: 'Words' } }, run() { return this.words.toUpperCase(); } };`,
  );
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/workflows/new`, headwater.apiKey);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Shouting');
  await page.getByRole('combobox', { name: 'Starts at' }).selectOption({ label: 'an event of a source' });
  await page.getByRole('button', { name: 'New source' }).click();
  const dialog = page.getByRole('dialog', { name: 'New source' });
  await dialog.getByRole('button', { name: 'Request bin' }).click();
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Inbox');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Create source' }).click();
  await dialog.waitFor({ state: 'detached' });
  const chosen = page.getByRole('combobox', { name: 'Source', exact: true });
  await expect.poll(() => chosen.locator('option:checked').innerText()).toBe('Inbox');
  await picture(page, 'builder-new-source');

  await page.getByRole('button', { name: 'Add step', exact: true }).click();
  await page.getByRole('tab', { name: 'URL' }).click();
  await page.getByRole('textbox', { name: 'URL of the code' }).fill(`${server.url}/shout.mjs`);
  await page.getByRole('dialog').getByRole('button', { name: 'Add step' }).click();
  await page.getByRole('textbox', { name: 'Words' }).fill('{{steps.trigger.event.hello}}');
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();
  await page.getByRole('heading', { name: 'Shouting', level: 1 }).waitFor();
  const { data } = await headwater.api('GET', '/users/me/sources');
  await fetch(data[0].configured_props.http.endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"hello":"world"}',
  });
  await succeeded(page);
  await page.getByRole('listitem').filter({ hasText: 'shout' }).click();
  await page.getByRole('tree', { name: 'What shout returned' }).getByText('"WORLD"').waitFor();
  check();
  await server.stop();
}, 180_000);

test('a workflow runs at its schedule, and sends a request without a line of code', async () => {
  const receiver = await startReceiver();
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/workflows/new`, headwater.apiKey);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Heartbeat');
  await page.getByRole('combobox', { name: 'Starts at' }).selectOption({ label: 'a schedule' });
  await page.getByRole('combobox', { name: 'Schedule' }).selectOption('cron');
  await page.getByRole('textbox', { name: 'Cron expression' }).fill('every day');
  await page.getByRole('button', { name: 'Add step', exact: true }).click();
  await page.getByRole('searchbox', { name: 'Search actions' }).fill('http request');
  await page.getByRole('button', { name: /Send an HTTP request/ }).click();
  await page.getByRole('textbox', { name: 'URL', exact: true }).fill(`${receiver.url}/alive`);
  // A schedule that says nothing is refused, and the page says why.
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();
  await page.getByRole('button', { name: /^Trigger/ }).click();
  await page.getByText(/cron/i).first().waitFor();
  await page.getByRole('alert').first().waitFor();
  await page.getByRole('combobox', { name: 'Schedule' }).selectOption('interval');
  await page.getByRole('spinbutton', { name: 'Seconds' }).fill('1');
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();
  await page.getByRole('heading', { name: 'Heartbeat', level: 1 }).waitFor();
  await page.getByText('every 1 s').first().waitFor();
  const [request] = await receiver.until(1);
  expect(request).toMatchObject({ method: 'GET', url: '/alive' });
  await succeeded(page);
  await page.getByRole('tree', { name: 'Event' }).getByText('interval_seconds').waitFor();
  check();
  await receiver.stop();
}, 180_000);

test('the editor completes what a component is given, its own props and the steps before', async () => {
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources?action=create`, headwater.apiKey);
  const code = page.getByRole('textbox', { name: 'Code' });
  const type = async (text: string) => {
    await code.fill('');
    await code.focus();
    // As it is typed: the editor offers nothing for text that is put in at once.
    await page.keyboard.insertText(text.slice(0, -1));
    await page.keyboard.type(text.slice(-1));
  };
  const offered = page.getByRole('listbox').getByRole('option');
  await type(
    `export default { name: 'A', version: '1', props: { db: '$.service.db', city: { type: 'string' } },\n run() { this.`,
  );
  await offered.filter({ hasText: '$emit' }).waitFor();
  await offered.filter({ hasText: 'city' }).waitFor();
  // The list is not cut off at the edge of the editor.
  const lowest = page.getByRole('listbox').getByRole('option').last();
  const { x = 0, y = 0 } = (await lowest.boundingBox()) ?? {};
  expect(await page.evaluate(`document.elementFromPoint(${x + 4}, ${y + 4}).closest('[role=listbox]') !== null`)).toBe(
    true,
  );
  await expectAccessible(page);
  await picture(page, 'editor-completion');
  await type(`export default { props: { db: '$.service.db' },\n run() { this.db.`);
  await offered.filter({ hasText: /^set/ }).waitFor();
  await type(`export default { props: { city: { type: '`);
  await offered.filter({ hasText: '$.interface.timer' }).waitFor();
  // Brackets that are typed are closed at once.
  await code.fill('');
  await page.keyboard.type('export default { props: { city: { l');
  await offered.filter({ hasText: 'label' }).waitFor();

  await page.goto(`${headwater.url}/workflows/new`);
  for (const name of ['first', 'second']) {
    await page.getByRole('button', { name: 'Add step', exact: true }).click();
    await page.getByRole('tab', { name: 'Code' }).click();
    await page.getByRole('button', { name: 'Add code step' }).click();
    await page.getByRole('textbox', { name: 'Step name' }).fill(name);
    await page.getByRole('textbox', { name: 'Step name' }).press('Enter');
  }
  const step = page.getByRole('textbox', { name: 'Code of second' });
  await step.fill('export default { run({ steps, $ }) { $.export("a", steps');
  await step.press('End');
  await page.keyboard.type('.');
  await offered.filter({ hasText: 'trigger' }).waitFor();
  await offered.filter({ hasText: 'first' }).waitFor();
  expect(await offered.filter({ hasText: 'second' }).count()).toBe(0);
  await step.fill('export default { run({ $ }) { $.flow');
  await step.press('End');
  await page.keyboard.type('.');
  await offered.filter({ hasText: 'suspend' }).waitFor();
  await page.keyboard.type('susp');
  await offered.filter({ hasText: 'suspend' }).click();
  await expect.poll(() => step.innerText()).toContain('$.flow.suspend');
  check();
}, 180_000);
