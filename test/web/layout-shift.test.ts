import type { Locator, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signIn, startBrowser, type TestBrowser, type TestPage } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { type FileServer, startFileServer } from '../support/file-server.ts';
import { type Filled, fillInstance } from '../support/filled-instance.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
/** The timeout of one page, on a machine that is busy. */
const PAGE_MS = 120_000;
/** Google's measure calls a page good up to 0.1. */
const MAX_SHIFT = 0.02;

const CODE = `export default { name: 'Survey', version: '1.0.0', props: {
  region: { type: 'string', label: 'Region', options: ['north', 'south'] },
  note: { type: 'string', label: 'Note', description: 'Long **words**' },
}, async run() {} };`;

type Ids = Filled & { code: string };

interface Shown {
  path: (ids: Ids) => string;
  /** It is there when the page is complete. */
  shows: (page: Page) => Locator;
}

const row = (table: string, name: RegExp) => (page: Page) =>
  page.getByRole('table', { name: table }).getByRole('row', { name });

const PAGES: Record<string, Shown> = {
  overview: { path: () => '/', shows: row('Webhooks, failing first', /Accounting/) },
  sources: { path: () => '/sources', shows: row('Sources', /Shop orders/) },
  'first run by link': {
    path: ({ code }) => `/sources?action=create&url=${encodeURIComponent(code)}`,
    shows: (page) => page.getByRole('textbox', { name: 'Note' }),
  },
  'code of a new source': {
    path: () => '/sources?action=create',
    shows: (page) => page.locator('.cm-content'),
  },
  'an event': {
    path: ({ orders, event }) => `/sources/${orders}?event=${event}`,
    shows: (page) => page.getByRole('tree', { name: 'Event' }),
  },
  'logs of a source': {
    path: ({ orders }) => `/sources/${orders}?tab=logs`,
    shows: (page) => page.getByRole('list', { name: 'Log lines' }),
  },
  'configuration of a source': {
    path: ({ orders }) => `/sources/${orders}?tab=configuration`,
    shows: (page) => page.locator('.cm-content'),
  },
  workflows: { path: () => '/workflows', shows: row('Workflows', /Order intake/) },
  executions: { path: ({ workflow }) => `/workflows/${workflow}`, shows: row('Executions', /failed/) },
  'a step in the builder': {
    path: ({ workflow }) => `/workflows/${workflow}?tab=build&step=reserve`,
    shows: (page) => page.getByRole('textbox', { name: 'URL', exact: true }),
  },
  execution: {
    path: ({ execution }) => `/executions/${execution}`,
    shows: (page) => page.getByRole('list', { name: 'Steps' }),
  },
  events: { path: () => '/events', shows: row('Events', /Order 1001/) },
  webhooks: { path: () => '/webhooks', shows: row('Webhooks', /Accounting/) },
  'a delivery of a webhook': {
    path: ({ accounting, delivery }) => `/webhooks/${accounting}?delivery=${delivery}`,
    shows: (page) => page.getByRole('list', { name: 'Attempts' }),
  },
  subscriptions: { path: () => '/subscriptions', shows: row('Subscriptions', /Warehouse/) },
  trace: { path: ({ orders, event }) => `/traces/${orders}-${event}`, shows: row('Trace', /Warehouse/) },
  registry: { path: () => '/registry', shows: row('Components of the registry', /HTTP request bin/) },
  connections: { path: () => '/connections', shows: row('Apps', /Airtable/) },
  data: { path: () => '/data', shows: (page) => page.getByText('No data stores') },
  members: { path: () => '/settings?tab=members', shows: (page) => page.getByText('No members yet') },
  usage: { path: () => '/settings?tab=usage', shows: (page) => page.getByText('Usage of the last 30 days') },
};

let headwater: Headwater;
let browser: TestBrowser;
let receiver: Receiver;
let files: FileServer;
let ids: Ids;
const opened = new Map<string, Slowed>();

/** A page whose requests to the API wait to be answered. */
interface Slowed extends TestPage {
  held: Route[];
}

beforeAll(async () => {
  [headwater, browser, receiver, files] = await Promise.all([
    startHeadwater({ web: true }),
    startBrowser(),
    startReceiver(),
    startFileServer(),
  ]);
  files.serve('/survey.mjs', CODE);
  ids = { ...(await fillInstance(headwater, receiver, 2)), code: `${files.url}/survey.mjs` };
  for (const size of ['desk', 'phone'] as const) opened.set(size, await openSlowed(size, headwater.apiKey));
}, PAGE_MS);
afterAll(async () => {
  await browser.stop();
  await files.stop();
  await receiver.stop();
  await headwater.stop();
});

async function openSlowed(size: keyof typeof SIZES, apiKey: string): Promise<Slowed> {
  const shown = await browser.open({ viewport: SIZES[size] });
  await signIn(shown.page, headwater.url, apiKey);
  await shown.page.addInitScript(`
    globalThis.shifts = [];
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries()) {
        if (!hadRecentInput) shifts.push({ value, moved: sources.map(({ node }) => node?.textContent?.slice(0, 60)) });
      }
    }).observe({ type: 'layout-shift', buffered: true });`);
  const held: Route[] = [];
  await shown.page.route('**/v1/**', (route) =>
    route.request().headers()['accept']?.includes('event-stream') ? route.continue() : held.push(route),
  );
  return { ...shown, held };
}

const twoFrames = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))');

/**
 * The newest request is answered first, and the page drawn after each answer: any answer may be the
 * last one.
 */
async function answerOneByOne({ page, held }: Slowed, shows: Locator): Promise<void> {
  const isComplete = async () => {
    const request = held.pop();
    if (request !== undefined) {
      // A request of the page before is of no interest any more.
      await request.continue().catch(() => undefined);
      await request
        .request()
        .response()
        .catch(() => null);
    }
    await twoFrames(page);
    if (request !== undefined || held.length > 0) return false;
    return (await page.getByRole('status', { name: 'Loading' }).count()) === 0 && (await shows.first().isVisible());
  };
  await eventually(isComplete, { timeoutMs: PAGE_MS, everyMs: 1, what: 'a page that is complete' });
}

/** A failure tells the elements that moved, and how far. */
async function expectStill({ page, check }: Slowed): Promise<void> {
  const shifts = (await page.evaluate('shifts')) as { value: number; moved: string[] }[];
  const sum = shifts.reduce((before, { value }) => before + value, 0);
  expect(sum < MAX_SHIFT ? [] : shifts).toEqual([]);
  check();
}

describe.each(['desk', 'phone'] as const)('nothing moves while data comes, on a %s', (size) => {
  test.each(Object.entries(PAGES))(
    '%s',
    async (_, { path, shows }) => {
      const shown = opened.get(size) as Slowed;
      shown.held.length = 0;
      await shown.page.goto(headwater.url + path(ids));
      await answerOneByOne(shown, shows(shown.page));
      await expectStill(shown);
    },
    PAGE_MS,
  );
});

test(
  'nothing moves on the overview of an account that has nothing',
  async () => {
    const shown = await openSlowed('desk', (await headwater.newAccount()).apiKey);
    await shown.page.goto(headwater.url);
    await answerOneByOne(shown, shown.page.getByRole('link', { name: 'Start' }));
    await expectStill(shown);
  },
  PAGE_MS,
);
