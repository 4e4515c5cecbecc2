import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { linksTo, type MailServer, startMailServer } from '../support/mail-server.ts';
import { makeMember } from '../support/members.ts';
import { type OAuthServer, startOAuthServer } from '../support/oauth-server.ts';

let headwater: Headwater;
let browser: TestBrowser;
let mail: MailServer;
let provider: OAuthServer;

beforeAll(async () => {
  mail = await startMailServer();
  const oidc = async (url: string) => {
    provider = await startOAuthServer({ redirectUri: `${url}/oauth/sign-in/callback` });
    const { url: issuer, clientId, clientSecret } = provider;
    return { issuer, clientId, clientSecret, name: 'Example login' };
  };
  const options = { web: true, mail: { smtpUrl: mail.url, from: 'no-reply@example.com' }, oidc };
  [headwater, browser] = await Promise.all([startHeadwater(options), startBrowser()]);
});
afterAll(async () => {
  await browser.stop();
  await headwater.stop();
  await Promise.all([mail.stop(), provider.stop()]);
});

test('a person signs in with a key, reloads, comes by a deep link, and signs out', async () => {
  const { page, check } = await browser.open();
  await page.goto(`${headwater.url}/webhooks?q=one`);
  await expectAccessible(page);
  await picture(page, 'sign-in');
  await page.getByRole('textbox', { name: 'API key' }).fill('hw_this_is_no_key_of_anybody');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The API key is unknown or revoked').waitFor();
  await page.getByRole('textbox', { name: 'API key' }).fill(headwater.apiKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  expect(page.url()).toContain('/webhooks?q=one');
  await page.reload();
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('textbox', { name: 'API key' }).waitFor();
  await page.goto(`${headwater.url}/sources`);
  await page.getByRole('textbox', { name: 'API key' }).waitFor();
  check();
});

test('a session ends with its key, and the user comes back to where they were', async () => {
  const { page, check } = await browser.open();
  const { data } = await headwater.api('POST', '/api_keys', { name: 'for a while' });
  await signIn(page, `${headwater.url}/sources`, data.api_key);
  // A request of this page that were still under way would end the session here.
  await page.waitForLoadState('networkidle');
  await headwater.api('DELETE', `/api_keys/${data.id}`);
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByText('Your session has ended').waitFor();
  await page.getByRole('textbox', { name: 'API key' }).fill(headwater.apiKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  check();
});

test('a refusal that comes after the session has ended leads nowhere else', async () => {
  const source = await headwater.deploy(`export default { name: 'Late', version: '1', run() {} };`);
  const { data } = await headwater.api('POST', '/api_keys', { name: 'for a moment' });
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources/${source.id}`, data.api_key);
  // A change is on its way until the user is asked to sign in.
  await page.route('**/run', async (route) => {
    await page.getByText('Your session has ended').waitFor();
    await route.continue();
  });
  const late = page.waitForResponse((response) => response.url().endsWith('/run'));
  await page.getByRole('button', { name: 'Run now' }).click();
  await headwater.api('DELETE', `/api_keys/${data.id}`);
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  expect((await late).status()).toBe(401);
  await page.getByRole('textbox', { name: 'API key' }).fill(headwater.apiKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  check();
});

test('a change that is refused for its rate waits, and is made when there is room', async () => {
  const { data: source } = await headwater.api('POST', '/sources', { kind: 'ingest', name: 'Signups' });
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources/${source.id}`, headwater.apiKey);
  await page.getByRole('button', { name: 'Publish an event' }).click();
  await page.getByRole('textbox', { name: 'Channel' }).fill('patient');
  const statuses: number[] = [];
  page.on('response', (response) => {
    if (response.url().endsWith(`/sources/${source.id}/events`)) statuses.push(response.status());
  });
  // Another client takes what there is until the page is refused.
  await headwater.limit({ maxRequestsPerSecond: 1 });
  const taking = (async () => {
    while (!statuses.includes(429)) await headwater.api('POST', `/sources/${source.id}/events`, { data: 1 });
  })();
  await expect
    .poll(async () => (await headwater.api('POST', `/sources/${source.id}/events`, { data: 1 })).status)
    .toBe(429);
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await taking;
  await page.getByText('The page waits and goes on by itself').waitFor();
  await page.getByRole('row', { name: 'patient' }).waitFor();
  expect(statuses.at(-1)).toBe(200);
  await headwater.limit({ maxRequestsPerSecond: null });
  check();
});

test('a save without a network says so, keeps what was typed and the focus, and is made once it is back', async () => {
  const { data: webhook } = await headwater.api('POST', '/webhooks', { url: 'http://127.0.0.1:2/', name: 'Before' });
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks/${webhook.id}?tab=settings`, headwater.apiKey);
  const name = page.getByRole('textbox', { name: 'Name' });
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await name.fill('After');
  await page.context().setOffline(true);
  await save.click();
  await page.getByText('The server cannot be reached').waitFor();
  await page.getByText('The server does not answer').waitFor();
  expect(await save.evaluate((button) => button.matches(':focus'))).toBe(true);
  await page.context().setOffline(false);
  await page.getByText('The server does not answer').waitFor({ state: 'detached' });
  expect(await name.inputValue()).toBe('After');
  await save.click();
  await page.getByRole('heading', { name: 'After', level: 1 }).waitFor();
  await headwater.api('DELETE', `/webhooks/${webhook.id}`);
  check();
});

test('times are relative, and exact in the zone of the reader', async () => {
  const source = await headwater.deploy(`export default { name: 'Dated', version: '1', run() { this.$emit(1); } };`);
  await headwater.api('POST', `/sources/${source.id}/run`, {});
  await headwater.untilEvents(source.id, 1);
  const { page, check } = await browser.open({ timezoneId: 'Asia/Kathmandu', locale: 'en-US' });
  await signIn(page, `${headwater.url}/sources/${source.id}`, headwater.apiKey);
  await page.getByRole('table', { name: 'Events' }).getByRole('row').first().click();
  const time = page.getByText('Stored', { exact: true }).locator('..').locator('time');
  await expect.poll(() => time.textContent()).toMatch(/^(now|\d+ (sec|min)\. ago)$/);
  expect(await time.getAttribute('title')).toMatch(/GMT\+5:45$/);
  check();
});

test('two tabs of one browser may be of two tenants', async () => {
  const { page: first, check } = await browser.open();
  const { data: other } = await headwater.admin('POST', '/accounts', { name: 'Neighbour' });
  await headwater.as(other.api_key)('POST', '/webhooks', { url: 'http://127.0.0.1:99/', name: 'of the neighbour' });
  await signIn(first, `${headwater.url}/webhooks`, headwater.apiKey);
  const second = await first.context().newPage();
  await second.goto(`${headwater.url}/webhooks`);
  await second.getByRole('button', { name: 'Sign out' }).click();
  // The next page would break off the request that ends the session.
  await second.getByRole('textbox', { name: 'API key' }).waitFor();
  await signIn(second, `${headwater.url}/webhooks`, other.api_key);
  await second.getByText('of the neighbour').waitFor();
  await signIn(first, `${headwater.url}/webhooks`, headwater.apiKey);
  await second.reload();
  await second.getByText('of the neighbour').waitFor();
  await first.reload();
  await first.getByText('No webhooks yet').waitFor();
  check();
});

test('the cookie alone signs nothing, scripts cannot read it, and it does not reach endpoints', async () => {
  const answer = await fetch(`${headwater.url}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: headwater.apiKey }),
  });
  const { data } = (await answer.json()) as { data: { id: string } };
  const [cookie = ''] = answer.headers.getSetCookie();
  expect(cookie).toMatch(/; Path=\/v1; Max-Age=43200; HttpOnly; SameSite=Strict$/);
  expect(cookie).not.toContain(headwater.apiKey);
  const [pair = ''] = cookie.split(';');
  const statusOf = async (headers: Record<string, string>) =>
    (await fetch(`${headwater.url}/v1/users/me`, { headers })).status;
  expect(await statusOf({ cookie: pair })).toBe(401);
  expect(await statusOf({ cookie: pair, 'x-headwater-session': '0'.repeat(16) })).toBe(401);
  expect(await statusOf({ cookie: `${pair}x`, 'x-headwater-session': data.id })).toBe(401);
  expect(await statusOf({ cookie: pair, 'x-headwater-session': data.id })).toBe(200);
});

test('the page has a strict policy, is never framed, and its files are cached for ever', async () => {
  const page = await fetch(headwater.url, { headers: { accept: 'text/html' } });
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(page.headers.get('cache-control')).toBe('no-cache');
  const [script] = /assets\/index-[\w-]+\.js/.exec(await page.text()) ?? [];
  const headers = { 'accept-encoding': 'br' };
  const file = await fetch(`${headwater.url}/${script}`, { headers });
  expect(file.headers.get('content-encoding')).toBe('br');
  expect(file.headers.get('cache-control')).toContain('immutable');
  expect((await fetch(`${headwater.url}/assets/..%2f..%2fpackage.json`)).status).toBe(404);
  expect(await (await fetch(headwater.url)).json()).toMatchObject({ name: 'Headwater' });
});

test('a person who has forgotten the password sets another one by a mailed link', async () => {
  const email = 'ida@example.com';
  await makeMember(headwater, email, 'developer');
  const { page, check } = await browser.open();
  await page.goto(`${headwater.url}/sign-in`);
  await page.getByRole('button', { name: 'E-mail and password' }).click();
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  // Both pages have a field for the e-mail address.
  await page.getByRole('heading', { name: 'Forgotten password' }).waitFor();
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByText('a mail with a link is on its way').waitFor();
  const [link = ''] = await linksTo(mail, email, 'hw_reset_');
  await page.goto(link);
  await page.getByLabel('New password').fill('short');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Set the password and sign in' }).click();
  await page.getByText('must have 10 to 256 characters').first().waitFor();
  await page.getByLabel('New password').fill('another long password');
  await page.getByRole('button', { name: 'Set the password and sign in' }).click();
  await page.getByText(`${email} · developer`).waitFor();
  expect(page.url()).not.toContain('hw_reset_');
  check();
});

test('a person signs in at the provider, and is told why not', async () => {
  const email = 'olga@example.com';
  const { page, check } = await browser.open();
  provider.claims = { email, email_verified: true };
  await page.goto(`${headwater.url}/sources`);
  await page.getByRole('link', { name: 'Sign in with Example login' }).click();
  await page.getByText('No account here knows your e-mail address').waitFor();
  await expectAccessible(page);
  const invited = await headwater.api('POST', '/members/invitations', { email, role: 'viewer' });
  await page.goto(invited.data.link);
  await page.getByRole('button', { name: 'Accept and sign in with Example login' }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Accept and sign in with Example login' }).click();
  await page.getByText(`${email} · viewer`).waitFor();
  expect(page.url()).not.toContain('hw_invite_');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.goto(`${headwater.url}/sources`);
  await page.getByRole('link', { name: 'Sign in with Example login' }).click();
  await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor();
  await page.getByText(`${email} · viewer`).waitFor();
  expect(page.url()).toBe(`${headwater.url}/sources`);
  await page.reload();
  await page.getByText(`${email} · viewer`).waitFor();
  check();
});
