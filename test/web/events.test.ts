import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type DeployedSource, type Headwater, startHeadwater } from '../support/headwater.ts';
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
  async run(event) { this.$emit(event.body, { summary: event.body?.summary }); },
};`;

async function send(source: DeployedSource, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(source.endpoint, { method: 'POST', headers, body });
  expect(response.status).toBe(200);
}

test('what comes while the reader has scrolled does not move what is read, and waits behind a pill', async () => {
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

const LONG = 'long '.repeat(200_000);
const PAYLOADS: readonly [name: string, json: string, shown: RegExp][] = [
  ['one of 1 MB', JSON.stringify({ summary: 'large', text: LONG.slice(0, 400_000) }), /long long.*characters/],
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
