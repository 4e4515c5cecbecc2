import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { type StatCounter } from '../../engine/src/contract/stats.ts';
import { signIn, startBrowser } from './browser.ts';
import { eventually } from './eventually.ts';
import { type Filled, fillInstance } from './filled-instance.ts';
import { setup } from './global-setup.ts';
import { type Headwater, startHeadwater } from './headwater.ts';
import { startReceiver } from './receiver.ts';

const FOLDER = path.resolve('docs/pictures');
const MINUTE_MS = 60_000;
const SLOW = { timeoutMs: 3 * MINUTE_MS };

/** Draws the pictures of docs/web.md anew, of an instance with made-up content. */
async function writePictures(): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const stopDatabase = await setup();
  const headwater = await startHeadwater({ web: true });
  const receiver = await startReceiver();
  const browser = await startBrowser();
  try {
    const content = await fillInstance(headwater, receiver, 18);
    await eventually(
      async () => (await headwater.api('GET', `/deliveries/${content.delivery}`)).data.attempts.length >= 2,
      SLOW,
    );
    await count(headwater, content);
    const { page } = await browser.open({ viewport: { width: 1280, height: 720 } });
    await signIn(page, headwater.url, headwater.apiKey);
    await draw(page, headwater.url, content);
  } finally {
    await browser.stop();
    await receiver.stop();
    await headwater.stop();
    await stopDatabase();
  }
}

type Counts = Partial<Record<StatCounter, number>>;

/** An hour of activity, which the instance has not been there for. */
async function count(headwater: Headwater, ids: Filled): Promise<void> {
  const nowMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  const add = (subject: string, atMs: number, counts: Counts) => {
    const { received = 0, emitted = 0, runsOk = 0, runsFailed = 0, delivered = 0, failedAttempts = 0 } = counts;
    return headwater.sql`
      insert into stats (account_id, subject_id, step_seconds, began_ms,
        received, emitted, runs_ok, runs_failed, delivered, failed_attempts)
      values (${headwater.accountId}, ${subject}, 60, ${atMs},
        ${received}, ${emitted}, ${runsOk}, ${runsFailed}, ${delivered}, ${failedAttempts})
      on conflict do nothing`;
  };
  for (let minute = 1; minute < 60; minute++) {
    const atMs = nowMs - minute * MINUTE_MS;
    const events = Math.round(40 + 22 * Math.sin(minute / 7) + 9 * Math.sin(minute * 2.3));
    const failed = minute > 20 && minute < 27 ? Math.round(events / 4) : 0;
    await add(ids.orders, atMs, { received: events, emitted: events, runsOk: events });
    await add(ids.workflow, atMs, { received: events, runsOk: events - failed, runsFailed: failed });
    await add(ids.warehouse, atMs, { delivered: events, failedAttempts: failed });
    if (minute % 5 === 0) await add(ids.rates, atMs, { received: 1, emitted: 1, runsOk: 1 });
    await add(headwater.accountId, atMs, {
      received: events * 2,
      emitted: events,
      runsOk: events * 2 - failed,
      runsFailed: failed,
      delivered: events,
      failedAttempts: failed,
    });
  }
}

async function draw(page: Page, url: string, content: Filled): Promise<void> {
  const { orders, event, workflow, delivery, execution } = content;
  await page.goto(url);
  await page.getByRole('img', { name: /^Runs/ }).waitFor();
  await page.getByRole('table', { name: 'Webhooks, failing first' }).waitFor();
  await shoot(page, 'overview');
  await page.goto(`${url}/sources/${orders}?event=${event}`);
  await page.getByRole('tree').first().waitFor();
  await shoot(page, 'source-events');
  await page.goto(`${url}/webhooks`);
  await page.getByRole('row', { name: /Warehouse.*\d %/ }).waitFor();
  await shoot(page, 'webhooks');
  await page.goto(`${url}/deliveries/${delivery}`);
  await page.getByRole('list', { name: 'Attempts' }).waitFor();
  await shoot(page, 'delivery');
  await page.goto(`${url}/workflows/${workflow}?tab=build&step=reserve`);
  await page.getByRole('textbox', { name: 'URL', exact: true }).waitFor();
  await page.getByText('events of Shop orders').first().waitFor();
  await shoot(page, 'builder');
  await page.goto(`${url}/executions/${execution}`);
  await page.getByRole('list', { name: 'Steps' }).waitFor();
  await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
  await shoot(page, 'execution');
}

/** Addresses of this machine and ids are others at each run: a picture has the same ones. */
const STEADY = `(() => {
  const steady = (text) => text
    .replaceAll(/http:\\/\\/127\\.0\\.0\\.1:\\d+/g, 'https://hooks.example.com')
    .replaceAll('127.0.0.1', '203.0.113.7')
    .replaceAll(/\\/e\\/[a-z0-9]{20,}/g, '/e/n4xk2v7qjd9m1c8t5w3p0b6s')
    .replaceAll(/\\b(dc|wh|p|exec|dlv|inv|d)_[0-9A-Za-z]{20}\\b/g, '$1_1vZ8kQ0aB3xYpL9mWc2T')
    .replaceAll(/\\b17\\d{11}-(\\d+)\\b/g, '1763640187123-$1');
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = steady(node.data);
    if (text !== node.data) node.data = text;
  }
})()`;

async function shoot(page: Page, name: string): Promise<void> {
  await eventually(async () => (await page.getByRole('status', { name: 'Loading' }).count()) === 0);
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  await page.evaluate(STEADY);
  await page.screenshot({ path: path.join(FOLDER, `${name}.png`) });
}

await writePictures();
