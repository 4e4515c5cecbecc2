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

const BIN = `export default {
  name: 'Orders', version: '1.0.0',
  props: { http: '$.interface.http' },
  async run(event) { console.log('got', event.path); this.$emit(event.body, { summary: event.body?.summary }); },
};`;

test('a source is created from a template, and the events of its endpoint appear as they come', async () => {
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources`, headwater.apiKey);
  await picture(page, 'sources-empty');
  await page.getByRole('button', { name: 'New source' }).first().click();
  await page.getByRole('button', { name: 'RSS feed' }).click();
  await page.getByRole('button', { name: 'Create source' }).click();
  await page.getByRole('textbox', { name: 'Feed URL' }).waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  await page.getByRole('tab', { name: 'Code', exact: true }).click();
  await page.getByRole('button', { name: 'Request bin' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('My bin');
  await expectAccessible(page);
  await picture(page, 'source-create');
  await page.getByRole('button', { name: 'Create source' }).click();
  await page.getByRole('heading', { name: 'My bin', level: 1 }).waitFor();
  await page.getByText('No events yet').waitFor();
  const { data } = await headwater.api('GET', '/users/me/sources');
  await fetch(data[0].configured_props.http.endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"order": "12345678901234567890", "note": "</script><b>bold</b>"}',
  });
  await page.getByRole('row', { name: 'POST /' }).click();
  await page.getByText('12345678901234567890').waitFor();
  await page.getByText('"</script><b>bold</b>"').waitFor();
  await expectAccessible(page);
  await picture(page, 'source-events');
  // A run by hand gets what the code reads of a request.
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByRole('button', { name: '1 new' }).click();
  await expect.poll(() => page.getByRole('row', { name: 'POST /' }).count()).toBe(2);
  check();
});

test('events that arrive while an event is open wait, and are shown at a click', async () => {
  const source = await headwater.deploy(BIN);
  const send = (summary: string) =>
    fetch(source.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ summary }),
    });
  await send('first');
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources/${source.id}`, headwater.apiKey);
  await page.getByRole('row', { name: 'first' }).click();
  await send('second');
  await page.getByRole('button', { name: '1 new' }).click();
  await page.getByRole('row', { name: 'second' }).waitFor();
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('row', { name: 'second' }).click();
  await page.locator('.cm-changedLine').first().waitFor();
  await page.getByRole('tab', { name: 'Logs' }).click();
  await page.getByText('got /').first().waitFor();
  const lines = page.getByRole('list', { name: 'Log lines' }).getByRole('listitem');
  await expect.poll(() => lines.count()).toBe(2);
  await page
    .getByRole('button', { name: /^Only lines of run/ })
    .first()
    .click();
  await expect.poll(() => lines.count()).toBe(1);
  expect(page.url()).toContain('run=inv_');
  await page.getByRole('button', { name: 'Show every run' }).click();
  await expect.poll(() => lines.count()).toBe(2);
  await expectAccessible(page);
  await picture(page, 'source-logs');
  check();
});

test('a run that emitted nothing is in the list of runs, and leads to its trace', async () => {
  const source = await headwater.deploy(
    `export default { name: 'Quiet', version: '1', props: { http: '$.interface.http' }, run() {} };`,
  );
  const answer = await fetch(source.endpoint, { method: 'POST', body: 'x' });
  const id = answer.headers.get('x-headwater-run') ?? '';
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources/${source.id}`, headwater.apiKey);
  await page.getByRole('tab', { name: 'Runs' }).click();
  const row = page.getByRole('row', { name: id });
  await row.getByText('emitted nothing').waitFor();
  await expectAccessible(page);
  await picture(page, 'source-runs');
  await row.click();
  await page.getByRole('row', { name: /Quiet.*ok/ }).waitFor();
  check();
});

test('a syntax error is told with its line, and nothing is created', async () => {
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources?action=create`, headwater.apiKey);
  const editor = page.getByRole('textbox', { name: 'Code' });
  await editor.fill('export default {\n  name: "broken",\n  run( {\n};\n');
  await page.getByRole('button', { name: 'Create source' }).click();
  await page
    .getByText(/line 4/)
    .first()
    .waitFor();
  await page.locator('.cm-lint-marker-error').waitFor();
  expect(page.url()).toContain('action=create');
  check();
});

test('a save with a syntax error is marked at its line, and the code of before goes on', async () => {
  const source = await headwater.deploy(BIN);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources/${source.id}?tab=configuration`, headwater.apiKey);
  const editor = page.getByRole('textbox', { name: 'Code' });
  await editor.getByText('Orders').waitFor();
  await editor.fill('export default {\n  name: "Orders",\n  run() { this.$emit( },\n};\n');
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();
  await page
    .getByRole('alert')
    .getByText(/line 3/)
    .waitFor();
  // The marker stands as high as the third number of the gutter.
  const marker = await page.locator('.cm-lint-marker-error').boundingBox();
  const third = await page.locator('.cm-lineNumbers').getByText('3', { exact: true }).boundingBox();
  expect(Math.abs((marker?.y ?? 0) - (third?.y ?? -99))).toBeLessThan(10);
  expect(await editor.innerText()).toContain('this.$emit( }');
  await fetch(source.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"summary":"of the old code"}',
  });
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.getByRole('row', { name: 'of the old code' }).waitFor();
  await page.getByRole('tab', { name: 'Configuration' }).click();
  await editor.fill(BIN.replace('event.body?.summary', '"mended"'));
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();
  await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' });
  await fetch(source.endpoint, { method: 'POST', body: '{}' });
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.getByRole('row', { name: 'mended' }).waitFor();
  check();
});

test('a source without code is made, and an event published to it, once', async () => {
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources`, headwater.apiKey);
  await page.getByRole('button', { name: 'New source' }).first().click();
  await page.getByRole('tab', { name: 'No code' }).click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Signups');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Create source' }).click();
  await page.getByRole('heading', { name: 'Signups', level: 1 }).waitFor();
  // A run makes none of its events: the empty list leads to what does.
  await page.getByRole('button', { name: 'Publish the first event' }).click();
  await page.getByRole('dialog', { name: 'Publish an event' }).getByRole('button', { name: 'Cancel' }).click();
  expect(await page.getByRole('button', { name: 'Run it once' }).count()).toBe(0);
  const publish = async () => {
    await page.getByRole('button', { name: 'Publish an event' }).click();
    await page.getByRole('textbox', { name: 'Channel' }).fill('user.created');
    await page.getByRole('textbox', { name: 'Id' }).fill('user-1');
    await expectAccessible(page);
    await picture(page, 'publish-event');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
  };
  await publish();
  await page.getByRole('row', { name: 'user.created' }).waitFor();
  await publish();
  await page.getByText('This id is known').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(await page.getByRole('row', { name: 'user.created' }).count()).toBe(1);
  check();
});
