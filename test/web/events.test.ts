import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type DeployedSource, type Headwater, startHeadwater } from '../support/headwater.ts';
import { startReceiver } from '../support/receiver.ts';
import { addLoopbackApp, type OAuthServer, startOAuthServer } from '../support/oauth-server.ts';

let headwater: Headwater;
let browser: TestBrowser;
let provider: OAuthServer;

beforeAll(async () => {
  [headwater, browser] = await Promise.all([startHeadwater({ web: true }), startBrowser()]);
  provider = await startOAuthServer({ redirectUri: `${headwater.url}/oauth/callback` });
  await addLoopbackApp(headwater, provider);
});
afterAll(async () => {
  await browser.stop();
  await headwater.stop();
  await provider.stop();
});

/** Runs in the page. */
const isFocused = (node: unknown) => (node as { matches(selector: string): boolean }).matches(':focus');

const BIN = `export default {
  name: 'Orders', version: '1.0.0', props: { http: '$.interface.http' },
  async run({ body }) {
    const { xBytes = 0, ...rest } = body ?? {};
    this.$emit(xBytes === 0 ? rest : { ...rest, text: 'x'.repeat(xBytes) }, { summary: body?.summary });
  },
};`;

async function send(source: DeployedSource, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(source.endpoint, { method: 'POST', headers, body });
  expect(response.status).toBe(200);
}

test('events that arrive while the reader has scrolled do not move the rows, and wait behind a pill', async () => {
  const source = await headwater.deploy(BIN);
  for (let i = 0; i < 60; i++) await send(source, JSON.stringify({ summary: `order ${i}` }));
  await headwater.untilEvents(source.id, 60);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources/${source.id}`, headwater.apiKey);
  await page.getByRole('row', { name: 'order 59' }).waitFor();
  await page.getByRole('table', { name: 'Events' }).hover();
  await page.mouse.wheel(0, 1_200);
  const row = page.getByRole('row', { name: 'order 25' });
  await row.waitFor();
  await expect.poll(async () => (await row.boundingBox())?.y).toBe((await row.boundingBox())?.y);
  const before = await row.boundingBox();
  for (let i = 60; i < 65; i++) await send(source, JSON.stringify({ summary: `order ${i}` }));
  await page.getByRole('button', { name: '5 new' }).waitFor();
  await picture(page, 'events-pill');
  expect((await row.boundingBox())?.y).toBe(before?.y);
  await page.getByRole('button', { name: '5 new' }).click();
  await page.getByRole('row', { name: 'order 64' }).waitFor();
  check();
});

const PAYLOADS: readonly [name: string, json: string, shown: RegExp][] = [
  ['one of 1 MB', '{"summary":"large","xBytes":1000000}', /xxxx.*1000000 characters/],
  [
    'one of 10 000 keys',
    JSON.stringify({
      summary: 'wide',
      ...Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key${i}`, i])),
    }),
    /key1:/,
  ],
  [
    'markup',
    '{"summary":"markup </script>","html":"</script><script>window.hacked = 1</script><img src=x onerror=window.hacked=1>"}',
    /<img src=x onerror=window\.hacked=1>/,
  ],
  ['right-to-left text', '{"summary":"rtl","text":"\u202eשלום\u2066 abc"}', /שלום/],
  ['half a surrogate pair', '{"summary":"half","text":"a\\ud83db"}', /a(\\ud83d|\ufffd)b/],
];

test('payloads of every kind are shown as text, and none is run', async () => {
  const source = await headwater.deploy(BIN);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources/${source.id}`, headwater.apiKey);
  for (const [name, json, shown] of PAYLOADS) {
    await send(source, json);
    const { summary } = JSON.parse(json) as { summary: string };
    await page.getByRole('row', { name: summary }).click();
    await page.getByRole('tree', { name: 'Event' }).getByText(shown).first().waitFor();
    expect([name, await page.evaluate('window.hacked')]).toEqual([name, undefined]);
    await picture(page, `payload-${summary.split(' ')[0]}`);
    await page.getByRole('button', { name: 'Close' }).click();
  }
  await expectAccessible(page);
  check();
});

test('an app of the account is among the others, and marked as private', async () => {
  const app = { name_slug: 'acme', name: 'Acme', auth_type: 'keys', fields: [{ name: 'api_key', label: 'Key' }] };
  expect((await headwater.api('POST', '/apps', app)).status).toBe(200);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/connections`, headwater.apiKey);
  const row = page.getByRole('row', { name: 'Acme private, acme' });
  await row.getByRole('button', { name: 'Connect Acme' }).click();
  await page.getByLabel('Key', { exact: true }).first().fill('a-key');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Close' }).click();
  await picture(page, 'connections-private-app');
  check();
});

test('an account is connected in a window of the provider, which closes, and the page goes on', async () => {
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/connections`, headwater.apiKey);
  await page.getByRole('button', { name: 'Connect Loopback' }).click();
  await page.getByRole('textbox', { name: 'Account name' }).fill('of the pop-up');
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Open Loopback' }).click(),
  ]);
  await popup.waitForEvent('close');
  await page.getByRole('row', { name: /of the pop-up/ }).waitFor();
  const { data } = await headwater.api('GET', '/users/me/accounts', { app: 'loopback' });
  expect(data).toMatchObject([{ name: 'of the pop-up', healthy: true }]);
  provider.denies = true;
  await page.getByRole('button', { name: 'Connect Loopback' }).click();
  const [refused] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Open Loopback' }).click(),
  ]);
  await page.getByRole('dialog').getByRole('alert').waitFor();
  if (!refused.isClosed()) await refused.waitForEvent('close');
  await expectAccessible(page);
  check();
});

test('a source is created with the keyboard alone', async () => {
  const { page, check } = await browser.open();
  await page.goto(`${headwater.url}/sources`);
  await expect.poll(() => page.getByRole('textbox', { name: 'API key' }).evaluate(isFocused)).toBe(true);
  await page.keyboard.type(headwater.apiKey);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor();
  const tabTo = async (name: string) => {
    const target = page.getByRole('button', { name, exact: true }).first();
    await target.waitFor();
    for (let presses = 0; presses < 60; presses++) {
      if (await target.evaluate(isFocused)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab does not lead to ${name}`);
  };
  await tabTo('New source');
  await page.keyboard.press('Enter');
  await tabTo('Request bin');
  await page.keyboard.press('Enter');
  await tabTo('Create source');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Request bin', level: 1 }).waitFor();
  check();
});

test('an event is found across emitters, compared with another, and led to where it was delivered', async () => {
  const receiver = await startReceiver();
  const [first, second] = [await headwater.deploy(BIN), await headwater.deploy(BIN)];
  const { data: webhook } = await headwater.api('POST', '/webhooks', { url: receiver.url, name: 'Warehouse' });
  await headwater.api('POST', '/subscriptions', { emitter_id: second.id, listener_id: webhook.id });
  await send(first, '{"summary":"parcel one","city":"Ghent"}');
  await send(second, '{"summary":"parcel two","city":"Bruges"}');
  await receiver.until(1);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/events`, headwater.apiKey);
  const rows = page.getByRole('table', { name: 'Events' }).getByRole('row');
  await page.getByRole('searchbox', { name: 'Text in the payload' }).fill('parcel');
  await expect.poll(() => rows.count()).toBe(2);
  await expect.poll(() => page.url()).toContain('text=parcel');
  const filter = page.getByRole('searchbox', { name: 'Filter as JSON' });
  await filter.fill('{"city":{"$startsWith":"Br"}}');
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByRole('row', { name: 'parcel two' }).waitFor();
  await filter.fill('');
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole('row', { name: 'parcel one' }).click();
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('row', { name: 'parcel two' }).click();
  await page.getByText('"Ghent"').first().waitFor();
  await page.getByText('"Bruges"').first().waitFor();
  await picture(page, 'events-compare');
  await page.getByRole('button', { name: 'Stop comparing' }).click();
  await page.reload();
  await page.getByRole('tree', { name: 'Event' }).getByText('"Bruges"').waitFor();
  await expectAccessible(page);
  await picture(page, 'events-search');
  await send(first, '{"summary":"parcel three"}');
  await page.getByRole('button', { name: '1 new' }).click();
  await page.getByRole('row', { name: 'parcel three' }).waitFor();
  await page.getByRole('searchbox', { name: 'Text in the payload' }).fill('no such parcel');
  await page.getByText('No event matches').waitFor();
  await page.goBack();
  await page.goto(`${headwater.url}/events?text=Bruges&emitter=${second.id}`);
  await page.getByRole('row', { name: 'parcel two' }).click();
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await picture(page, 'events-search-phone');
  await expectAccessible(page);
  await page.getByRole('list', { name: 'Deliveries of this event' }).getByRole('link').click();
  const sheet = page.getByRole('dialog', { name: 'Delivery' });
  await sheet.getByRole('list', { name: 'Attempts' }).getByText('HTTP 200').waitFor();
  await sheet.getByRole('button', { name: 'Back' }).click();
  await page.getByRole('heading', { name: 'Warehouse', level: 1 }).waitFor();
  check();
  await receiver.stop();
});

test('from an event, its trigger runs again, and it is emitted again', async () => {
  const invoice = { invoice: 47_110_815 };
  const { data: publisher } = await headwater.api('POST', '/sources', { kind: 'ingest', name: 'Publisher' });
  const relay = await headwater.deploy(
    `export default { name: 'Relay', version: '1', run(event) { this.$emit(event, { summary: 'relayed' }); } };`,
  );
  await headwater.api('POST', '/subscriptions', { emitter_id: publisher.id, listener_id: relay.id });
  await headwater.api('POST', `/sources/${publisher.id}/events`, { data: invoice });
  await headwater.untilEvents(relay.id, 1);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources/${relay.id}`, headwater.apiKey);
  await page.getByRole('row', { name: 'relayed' }).click();
  await page.getByRole('button', { name: 'Again' }).click();
  await page.getByRole('menuitem', { name: 'Run its trigger again…' }).click();
  const run = page.getByRole('dialog', { name: 'Run Relay' });
  await run.getByText('The event of another source that started the run').waitFor();
  await run.getByText('47110815').waitFor();
  await run.getByRole('button', { name: 'Run', exact: true }).click();
  await run.waitFor({ state: 'detached' });
  await headwater.untilEvents(relay.id, 2);
  await page.getByRole('button', { name: 'Again' }).click();
  await page.getByRole('menuitem', { name: 'Emit it again…' }).click();
  const emit = page.getByRole('dialog', { name: 'Emit the event again' });
  await emit.getByText('47110815').waitFor();
  await expectAccessible(page);
  await emit.getByRole('button', { name: 'Publish', exact: true }).click();
  await emit.waitFor({ state: 'detached' });
  await headwater.untilEvents(relay.id, 3);
  const { data: events } = await headwater.api('GET', `/sources/${relay.id}/event_summaries`, { expand: 'event' });
  const summaries = events.map((one: { metadata: { summary: string } }) => one.metadata.summary);
  expect(events.map((one: { event: unknown }) => one.event)).toEqual([invoice, invoice, invoice]);
  expect(summaries).toEqual(['relayed', 'relayed', 'relayed']);
  check();
});

test('failures of one kind are counted first, then all go out anew', async () => {
  const receiver = await startReceiver();
  const source = await headwater.deploy(BIN);
  const once = { url: receiver.url, name: 'Depot', retry_schedule_seconds: [] };
  const { data: webhook } = await headwater.api('POST', '/webhooks', once);
  await headwater.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  receiver.answer = { status: 404, body: 'gone' };
  for (let i = 0; i < 3; i++) await send(source, `{"summary":"pallet ${i}"}`);
  await receiver.until(3);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks/${webhook.id}`, headwater.apiKey);
  const table = page.getByRole('table', { name: 'Deliveries' });
  await page.getByRole('button', { name: 'delivered', exact: true }).click();
  await page.getByText('No delivery matches').waitFor();
  await page.getByRole('button', { name: 'failed', exact: true }).click();
  await page.getByRole('combobox', { name: 'Failure' }).selectOption('http_4xx');
  await page.getByRole('combobox', { name: 'Time' }).selectOption('1h');
  await expect.poll(() => table.getByRole('row').count()).toBe(4);
  await table.getByRole('row').nth(1).click();
  await page.getByText('gone').first().waitFor();
  await expectAccessible(page);
  await picture(page, 'deliveries');
  receiver.answer = { status: 200 };
  await page.getByRole('button', { name: 'Send all failed again' }).click();
  await page.getByText('3 failed deliveries').waitFor();
  await picture(page, 'redeliver-many');
  await expectAccessible(page);
  expect(receiver.requests).toHaveLength(3);
  await page.getByRole('button', { name: 'Redeliver 3' }).click();
  await receiver.until(6);
  await page.getByText('3 deliveries go out anew').waitFor();
  await page.getByRole('list', { name: 'Attempts' }).getByText('HTTP 200').waitFor();
  const { data: all } = await headwater.api('GET', `/webhooks/${webhook.id}/deliveries`);
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox', { name: 'Name or id' }).fill(all[0].id);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Delivery', level: 1 }).waitFor();
  await page.getByRole('list', { name: 'Attempts' }).getByText('HTTP 404').waitFor();
  check();
  await receiver.stop();
});

test('two people who edit one source are shown both versions, and neither change is lost', async () => {
  const source = await headwater.deploy(BIN);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources/${source.id}?tab=configuration`, headwater.apiKey);
  await page.getByRole('textbox', { name: 'Name' }).fill('mine');
  await headwater.api('PUT', `/sources/${source.id}`, { name: 'theirs' });
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog', { name: 'Somebody else changed this meanwhile' });
  await dialog.getByText('"theirs"').first().waitFor();
  await dialog.getByText('"mine"').first().waitFor();
  await expectAccessible(page);
  await picture(page, 'conflict');
  const nameNow = async () => (await headwater.api('GET', `/sources/${source.id}`)).data.name;
  expect(await nameNow()).toBe('theirs');
  await dialog.getByRole('button', { name: 'Save mine over it' }).click();
  await expect.poll(nameNow).toBe('mine');
  await page.getByRole('heading', { name: 'mine', level: 1 }).waitFor();
  await page.getByRole('textbox', { name: 'Name' }).fill('mine again');
  await headwater.api('PUT', `/sources/${source.id}`, { name: 'theirs again' });
  await page.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('button', { name: 'Take theirs' }).click();
  await page.getByRole('heading', { name: 'theirs again', level: 1 }).waitFor();
  expect(await nameNow()).toBe('theirs again');
  await page.getByRole('button', { name: 'Run with an event' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Event' }).fill('{"body":{"summary":"written by hand"}}');
  await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.getByRole('row', { name: 'written by hand' }).waitFor();
  await page.getByRole('tab', { name: 'Listeners' }).click();
  await page.getByText('Nothing listens').waitFor();
  await expectAccessible(page);
  check();
});
