import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { makeMember, newEmail, PASSWORD } from '../support/members.ts';

// Its packages set globals: not in the middle of a test.
await import('@simplewebauthn/server');

let headwater: Headwater;
let browser: TestBrowser;

beforeAll(async () => {
  [headwater, browser] = await Promise.all([startHeadwater({ web: true, host: 'localhost' }), startBrowser()]);
});
afterAll(async () => {
  await browser.stop();
  await headwater.stop();
});

/** A platform authenticator of Chromium itself, which its person touches at once. */
async function addAuthenticator(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** Opens the page on which nothing offers passkeys but the button. */
async function signOutToKeys(page: Page): Promise<void> {
  await page.evaluate(`localStorage.setItem('headwater.sign-in', 'key')`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('textbox', { name: 'API key' }).waitFor();
}

const signedIn = (page: Page) =>
  page.waitForResponse((response) => response.url().endsWith('/v1/session/passkey'), { timeout: 60_000 });

async function signInByPassword(page: Page, email: string): Promise<void> {
  await page.getByRole('button', { name: 'E-mail and password' }).click();
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText(`${email} · developer`).waitFor();
}

test('a person adds a passkey, signs in with it alone, and not any more once it is removed', async () => {
  const email = newEmail();
  await makeMember(headwater, email, 'developer');
  const { page, check } = await browser.open();
  await addAuthenticator(page);
  await page.goto(`${headwater.url}/settings?tab=access`);
  await signInByPassword(page, email);
  await page.getByLabel('Passkey name').fill('Laptop');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('The passkey is added').waitFor();
  await page.getByRole('table', { name: 'Passkeys' }).getByText('Laptop').waitFor();
  await expectAccessible(page);
  await picture(page, 'passkeys');

  await signOutToKeys(page);
  await expectAccessible(page);
  await picture(page, 'sign-in-passkey');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByText(`${email} · developer`).waitFor();

  // The browser offers it for the field of the e-mail address, and the person is there already.
  const entered = signedIn(page);
  await page.getByRole('button', { name: 'Sign out' }).click();
  expect((await entered).status()).toBe(200);
  await page.getByText(`${email} · developer`).waitFor();

  await page.goto(`${headwater.url}/settings?tab=access`);
  await page.getByRole('button', { name: 'Rename Laptop' }).click();
  await page.getByLabel('New name').fill('Old laptop');
  await page.getByRole('button', { name: 'Rename passkey' }).click();
  await page.getByRole('button', { name: 'Remove Old laptop' }).click();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Remove passkey' }).click();
  await page.getByRole('table', { name: 'Passkeys' }).waitFor({ state: 'detached' });
  await signOutToKeys(page);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByText('This passkey does not sign in here').waitFor();
  expect(new URL(page.url()).pathname).toBe('/sign-in');
  check();
});

test('a device has one passkey of a person, and an older session asks for the password', async () => {
  const email = newEmail();
  await makeMember(headwater, email, 'developer');
  const { page, check } = await browser.open();
  await addAuthenticator(page);
  await page.goto(`${headwater.url}/settings?tab=access`);
  await signInByPassword(page, email);
  await headwater.sql`update user_sessions set created_at = created_at - interval '11 minutes'`;
  await page.getByLabel('Passkey name').fill('Laptop');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Your password').fill(PASSWORD);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('table', { name: 'Passkeys' }).getByText('Laptop').waitFor();
  await headwater.sql`update user_sessions set created_at = now()`;
  await page.getByLabel('Passkey name').fill('Again');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('This device has a passkey of yours already').waitFor();
  check();
});
