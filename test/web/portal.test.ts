import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { startReceiver } from '../support/receiver.ts';

let headwater: Headwater;
let browser: TestBrowser;
let product: Server;
let origin: string;
/** The link that the page of the product shows in its frame. */
let framed = '';

beforeAll(async () => {
  product = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<title>Product</title><iframe title="webhooks" width="1200" height="800" src="${framed}"></iframe>`);
  });
  await new Promise<void>((resolve) => product.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(product.address() as AddressInfo).port}`;
  [headwater, browser] = await Promise.all([
    startHeadwater({ web: true, portalFrameOrigins: [origin] }),
    startBrowser(),
  ]);
});
afterAll(async () => {
  await browser.stop();
  await headwater.stop();
  product.closeAllConnections();
  product.close();
});

async function linkOf(theme: object) {
  const { data } = await headwater.api('POST', `/accounts/${headwater.accountId}/portal_links`, { theme });
  return data as { url: string; key_id: string };
}

test('a customer makes and tries out a webhook in a frame of a product, and sees nothing else', async () => {
  const receiver = await startReceiver();
  const source = await headwater.deploy(`export default { name: 'Orders of Acme', version: '1', run() {} };`);
  const link = await linkOf({ title: 'Acme webhooks', accent: '#7a1f5c', mode: 'light' });
  framed = link.url.replaceAll('&', '&amp;');
  const { page } = await browser.open();
  await page.goto(origin);
  const frame = page.frameLocator('iframe');
  await frame.getByText('Acme webhooks').waitFor();
  await frame.getByText('No webhooks yet').waitFor();
  // Words for a customer without a command line or a key.
  expect(await frame.locator('body').innerText()).not.toMatch(/\bhw\b|npx/);
  expect(await frame.getByRole('button', { name: 'Copy as command' }).count()).toBe(0);
  await frame.getByRole('button', { name: 'New webhook' }).first().click();
  await frame.getByRole('textbox', { name: 'URL' }).fill(receiver.url);
  await frame.getByRole('textbox', { name: 'Name' }).fill('Mine');
  await frame.getByRole('button', { name: 'Create webhook' }).click();
  await frame.getByRole('heading', { name: 'Mine', level: 1 }).waitFor();
  receiver.answer = { status: 202, body: 'got it' };
  await frame.getByRole('button', { name: 'Send a test' }).click();
  await frame.getByText('got it').waitFor();
  await picture(page, 'portal');
  await frame.getByRole('button', { name: 'Close' }).click();
  // Emitters have names; ids of the account would say nothing to the customer.
  await frame.getByRole('tab', { name: 'Subscriptions' }).click();
  await frame.getByRole('combobox', { name: 'Emitter' }).selectOption('Orders of Acme');
  await frame.getByRole('button', { name: 'Subscribe', exact: true }).click();
  await frame.getByRole('cell', { name: 'Orders of Acme', exact: true }).waitFor();
  expect(await frame.locator('body').innerText()).not.toContain(source.id);
  expect(await frame.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
  const accent = await frame.locator('html').evaluate((html) => html.style.getPropertyValue('--accent'));
  expect(accent).toBe('#7a1f5c');
  // A revoked key ends the page.
  await headwater.api('DELETE', `/api_keys/${link.key_id}`);
  await frame.getByRole('link', { name: 'Acme webhooks' }).click();
  await frame.getByText('This link has ended').waitFor();
  await receiver.stop();
});

test('it is a page of its own as well, and no other page may be framed', async () => {
  const link = await linkOf({});
  const { page, check } = await browser.open();
  await page.goto(link.url);
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  await expectAccessible(page);
  check();
  const policyOf = async (path: string) => {
    const { headers } = await fetch(headwater.url + path, { headers: { accept: 'text/html' } });
    return [
      headers.get('content-security-policy')?.match(/frame-ancestors [^;]*/)?.[0],
      headers.get('x-frame-options'),
    ];
  };
  expect(await policyOf('/portal')).toEqual([`frame-ancestors ${origin}`, null]);
  for (const path of ['/', '/webhooks', '/portal/x', '/settings'])
    expect(await policyOf(path)).toEqual(["frame-ancestors 'none'", 'DENY']);
});
