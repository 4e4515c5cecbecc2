import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
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

test('a failed delivery is found, its attempt is read, and it is delivered again', async () => {
  const receiver = await startReceiver();
  const source = await headwater.deploy(`export default {
    name: 'Orders', version: '1.0.0', props: { http: '$.interface.http' },
    async run(event) { this.$emit(event.body); },
  };`);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks`, headwater.apiKey);
  await page.getByRole('button', { name: 'New webhook' }).first().click();
  await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url);
  await page.getByRole('textbox', { name: 'Name' }).fill('Warehouse');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByRole('heading', { name: 'Warehouse', level: 1 }).waitFor();
  const id = page.url().split('/').at(-1)?.split('?')[0] ?? '';
  await headwater.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  await headwater.api('PUT', `/webhooks/${id}`, { retry_schedule_seconds: [] });
  receiver.script({ status: 400, body: 'no such warehouse' });
  await fetch(source.endpoint, {
    method: 'POST',
    body: '{"order":1}',
    headers: { 'content-type': 'application/json' },
  });
  await receiver.until(1);
  await page.getByRole('button', { name: 'failed', exact: true }).click();
  await page
    .getByRole('table', { name: 'Deliveries' })
    .getByRole('row', { name: /failed.*HTTP 400/ })
    .click();
  const attempts = page.getByRole('list', { name: 'Attempts' });
  await attempts.getByText('HTTP 400').waitFor();
  await page.getByText('no such warehouse').waitFor();
  await picture(page, 'delivery');
  await expectAccessible(page);
  // Nothing goes out before the click, as no attempt is left.
  expect(receiver.requests).toHaveLength(1);
  await page.getByRole('button', { name: 'Redeliver' }).click();
  const requests = await receiver.until(2);
  await attempts.getByText('HTTP 200').waitFor();
  expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  check();
  await receiver.stop();
});

test('a webhook is subscribed with a filter, which is mended and changed', async () => {
  const source = await headwater.deploy(`export default {
    name: 'Sales', version: '1.0.0', props: { http: '$.interface.http' },
    async run(event) { this.$emit(event.body); },
  };`);
  const { id } = (await headwater.api('POST', '/webhooks', { url: 'http://127.0.0.1:99/', name: 'Large' })).data;
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks/${id}?tab=subscriptions`, headwater.apiKey);
  await page.getByRole('combobox', { name: 'Emitter' }).selectOption({ label: 'Sales' });
  await page.getByRole('textbox', { name: 'Filter' }).fill('{"order.total":{"$gtee":100}}');
  await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
  await page.getByText('is not an operator; did you mean $gte?').first().waitFor();
  await page.getByRole('textbox', { name: 'Filter' }).fill('{"order.total":{"$gte":100}}');
  await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
  await page.getByRole('button', { name: 'Filter {"order.total":{"$gte":100}}' }).click();
  await picture(page, 'subscription-filter');
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('textbox', { name: 'Filter' }).fill('{"currency":"EUR"}');
  await page.getByRole('button', { name: 'Save filter' }).click();
  await page.getByRole('button', { name: 'Filter {"currency":"EUR"}' }).click();
  const field = page.getByRole('dialog', { name: 'Filter' }).getByRole('textbox', { name: 'Filter' });
  await field.fill('{"currency":"CHF"}');
  const subscriptions = await headwater.api('GET', '/users/me/subscriptions');
  const own = subscriptions.data.find((one: { listener_id: string }) => one.listener_id === id);
  await headwater.api('PUT', `/subscriptions/${own.id}`, { filter: { currency: 'USD' } });
  await page.getByRole('button', { name: 'Save filter' }).click();
  const conflict = page.getByRole('dialog', { name: 'Somebody else changed this meanwhile' });
  await conflict.getByText('USD').first().waitFor();
  await conflict.getByRole('button', { name: 'Take theirs' }).click();
  await expect.poll(() => field.inputValue()).toBe('{"currency":"USD"}');
  await field.fill('{"currency":"EUR"}');
  await page.getByRole('button', { name: 'Save filter' }).click();
  await page.getByRole('button', { name: 'Filter {"currency":"EUR"}' }).waitFor();
  const { data } = await headwater.api('GET', '/users/me/subscriptions');
  expect(data).toContainEqual(
    expect.objectContaining({ emitter_id: source.id, listener_id: id, filter: { currency: 'EUR' } }),
  );
  const unsubscribe = page.getByRole('button', { name: 'Unsubscribe from Sales' });
  const question = page.getByRole('dialog', { name: 'Unsubscribe Large from Sales?' });
  await unsubscribe.click();
  await question.getByText('The filter of the subscription goes with it').waitFor();
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Keep it' }).click();
  await unsubscribe.click();
  await question.getByRole('button', { name: 'Unsubscribe' }).click();
  await page.getByText('It listens to nothing').waitFor();
  check();
});

test('past events are counted, and sent to a new webhook', async () => {
  const receiver = await startReceiver();
  const source = await headwater.deploy(`export default {
    name: 'Ledger', version: '1.0.0', props: { http: '$.interface.http' },
    async run(event) { for (const one of event.body) this.$emit(one); },
  };`);
  const headers = { 'content-type': 'application/json' };
  await fetch(source.endpoint, { method: 'POST', headers, body: '[{"n":1},{"n":2},{"n":3}]' });
  await headwater.untilEvents(source.id, 3);
  const { id } = (await headwater.api('POST', '/webhooks', { url: receiver.url, name: 'Archive' })).data;
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks/${id}`, headwater.apiKey);
  await page.getByRole('button', { name: 'Replay past events' }).click();
  await page.getByRole('combobox', { name: 'Emitter' }).selectOption({ label: 'Ledger' });
  await page.getByRole('textbox', { name: 'Filter' }).fill('{"n":{"$gte":2}}');
  await page.getByRole('button', { name: 'Count' }).click();
  await page.getByText('2 events match').waitFor();
  await picture(page, 'replay');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Replay 2' }).click();
  await page.getByText('2 of 2 sent').waitFor();
  const requests = await receiver.until(2);
  expect(requests.map(({ body }) => body).toSorted()).toEqual(['{"n":2}', '{"n":3}']);
  // A second replay says by its name who got events before.
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Replay past events' }).click();
  await page.getByRole('combobox', { name: 'Emitter' }).selectOption({ label: 'Ledger' });
  await page.getByRole('button', { name: 'Count' }).click();
  await page.getByText('Archive got 2 of these events before and gets them again.').waitFor();
  check();
  await receiver.stop();
});

test('a webhook is tried out, its secret replaced and its requests changed', async () => {
  const receiver = await startReceiver();
  const made = await headwater.api('POST', '/webhooks', { url: receiver.url, name: 'Billing' });
  const { id, secret } = made.data as { id: string; secret: string };
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks/${id}?tab=settings`, headwater.apiKey);
  receiver.answer = { status: 202, body: 'got it' };
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('got it').waitFor();
  await page.getByText('202 in').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByRole('spinbutton', { name: 'Overlap in hours' }).fill('2');
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  await page.getByText('The secret before it signs as well').waitFor();
  const now = (await headwater.api('GET', `/webhooks/${id}`)).data as { secret: string };
  expect(now.secret).not.toBe(secret);
  await page.getByText(now.secret).waitFor();
  await page.getByRole('textbox', { name: 'Headers' }).fill('host: x');
  await page.getByRole('textbox', { name: 'Retry schedule' }).fill('5, 60');
  await page.getByRole('spinbutton', { name: 'Timeout in seconds' }).fill('7');
  await page.getByRole('button', { name: 'Save requests' }).click();
  await page.getByText('host is a header that Headwater sets itself').first().waitFor();
  await page.getByRole('textbox', { name: 'Headers' }).fill('Authorization: Bearer 6f1c');
  await page.getByRole('button', { name: 'Save requests' }).click();
  const changed = { headers: { authorization: 'Bearer 6f1c' }, retry_schedule_seconds: [5, 60], timeout_seconds: 7 };
  await expect.poll(async () => (await headwater.api('GET', `/webhooks/${id}`)).data).toMatchObject(changed);
  await picture(page, 'webhook-settings');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Retry now' }).click();
  await page.getByText('0 deliveries are due now').waitFor();
  check();
  await receiver.stop();
});

test('text typed into a part of the settings survives changes by others, and a change of that part is shown', async () => {
  const { id } = (await headwater.api('POST', '/webhooks', { url: 'http://127.0.0.1:2/', name: 'Shared' })).data;
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks/${id}?tab=settings`, headwater.apiKey);
  const schedule = page.getByRole('textbox', { name: 'Retry schedule' });
  await schedule.fill('5, 60');
  // A change of another part, by another user and on the same page: no conflict and no loss.
  await headwater.api('PUT', `/webhooks/${id}`, { rate_per_second: 3 });
  await page.getByRole('textbox', { name: 'Name' }).fill('Shared by two');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { name: 'Shared by two', level: 1 }).waitFor();
  expect(await schedule.inputValue()).toBe('5, 60');
  expect((await headwater.api('GET', `/webhooks/${id}`)).data).toMatchObject({
    name: 'Shared by two',
    rate_per_second: 3,
  });
  // The same part: both are shown, and nothing is written before the choice.
  await headwater.api('PUT', `/webhooks/${id}`, { retry_schedule_seconds: [9] });
  await page.getByRole('button', { name: 'Save requests' }).click();
  const dialog = page.getByRole('dialog', { name: 'Somebody else changed this meanwhile' });
  await dialog.waitFor();
  expect((await headwater.api('GET', `/webhooks/${id}`)).data.retry_schedule_seconds).toEqual([9]);
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Take theirs' }).click();
  await expect.poll(() => schedule.inputValue()).toBe('9');
  check();
});

test('a webhook is given a token and a method, and its attempts show phases and headers', async () => {
  const receiver = await startReceiver();
  receiver.answer = { status: 307, headers: { location: 'https://elsewhere.example.com/hook' } };
  const { id } = (await headwater.api('POST', '/webhooks', { url: receiver.url, name: 'Proof' })).data;
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks/${id}?tab=settings`, headwater.apiKey);
  await page.getByRole('combobox', { name: 'Method' }).selectOption('PUT');
  await page.getByRole('combobox', { name: 'Authentication' }).selectOption('bearer');
  await page.getByLabel('Token').fill('tok-6f1c');
  await page.getByRole('textbox', { name: 'Trusted certificates' }).fill('no certificate');
  await page.getByRole('button', { name: 'Save authentication' }).click();
  await page.getByText('must be certificates in PEM form').first().waitFor();
  await page.getByRole('textbox', { name: 'Trusted certificates' }).fill('');
  await page.getByRole('button', { name: 'Save authentication' }).click();
  await expect
    .poll(async () => (await headwater.api('GET', `/webhooks/${id}`)).data)
    .toMatchObject({ method: 'PUT', auth: { type: 'bearer' }, ca_certificate: null });
  await picture(page, 'webhook-authentication');
  await expectAccessible(page);
  const source = await headwater.deploy(
    `export default { name: 'Proofs', version: '1', run(event) { this.$emit(event); } };`,
  );
  await headwater.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  await headwater.api('POST', `/sources/${source.id}/run`, { event: { n: 1 } });
  const [request] = await receiver.until(1);
  expect([request?.method, request?.headers.authorization]).toEqual(['PUT', 'Bearer tok-6f1c']);
  await page.getByRole('tab', { name: 'Deliveries' }).click();
  await page.getByRole('table', { name: 'Deliveries' }).getByRole('row').nth(1).click();
  await page.getByText('It pointed to https://elsewhere.example.com/hook').waitFor();
  await page.getByText('first attempt').waitFor();
  await page.getByText('127.0.0.1', { exact: true }).waitFor();
  await page.getByText('Request headers').click();
  await page.getByText('authorization: [redacted]').waitFor();
  await page.getByLabel('The last day').waitFor();
  await picture(page, 'delivery-phases');
  await expectAccessible(page);
  check();
  await receiver.stop();
});

test('a transform is tried on past events, mended, and switched on', async () => {
  const receiver = await startReceiver();
  const { id } = (await headwater.api('POST', '/webhooks', { url: receiver.url, name: 'Slim' })).data;
  const source = await headwater.deploy(`export default {
    name: 'Bulky', version: '1', props: { http: '$.interface.http' },
    async run(event) { this.$emit(event.body); },
  };`);
  await headwater.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  const headers = { 'content-type': 'application/json' };
  const send = (body: string) => fetch(source.endpoint, { method: 'POST', headers, body });
  await send('{"order":7,"secret":"gone"}');
  await receiver.until(1);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks/${id}?tab=settings`, headwater.apiKey);
  const codeOf = (run: string) =>
    `export default { name: 'Slim', version: '1', type: 'transform', run(request) { ${run} } };`;
  const code = page.getByRole('textbox', { name: 'Code' });
  await code.fill(codeOf(`throw new Error('not yet');`));
  await page.getByRole('button', { name: 'Preview on past events' }).click();
  await page.getByText('not yet').waitFor();
  await code.fill(codeOf(`return { body: { order: request.body.order } };`));
  await page.getByRole('button', { name: 'Preview on past events' }).click();
  await page.getByText('would be sent').waitFor();
  await page.getByText('-   "secret": "gone"').waitFor();
  await picture(page, 'transform-preview');
  await expectAccessible(page);
  expect(receiver.requests).toHaveLength(1);
  await page.getByRole('button', { name: 'Save and switch on' }).click();
  await page.getByRole('button', { name: 'Switch off' }).waitFor();
  await send('{"order":8,"secret":"gone"}');
  expect((await receiver.until(2)).at(-1)?.body).toBe('{"order":8}');
  await page.getByRole('button', { name: 'Switch off' }).click();
  await page.getByText('It runs in the sandbox and sees no secret').waitFor();
  check();
  await receiver.stop();
});
