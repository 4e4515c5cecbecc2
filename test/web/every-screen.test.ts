import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../shared/src/index.ts';
import {
  expectAccessible,
  picture,
  signIn,
  startBrowser,
  type TestBrowser,
  type TestPage,
} from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { type Filled, fillInstance } from '../support/filled-instance.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
/** The timeout of one screen, on a machine that is busy. */
const SCREEN_MS = 120_000;

type Ids = Filled & { store: string };

interface Screen {
  path: (ids: Ids) => string;
  /** A text that is there when the screen is complete. */
  shows: (page: Page) => Locator;
  /** The steps of a person from the path to the screen. */
  open?: (page: Page) => Promise<unknown>;
}

const heading = (name: string) => (page: Page) => page.getByRole('heading', { name, level: 1 });
const table = (name: string) => (page: Page) => page.getByRole('table', { name }).getByRole('row').nth(1);
const dialog = (name: string | RegExp) => (page: Page) => page.getByRole('dialog', { name });
const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();

const SCREENS: Record<string, Screen> = {
  overview: { path: () => '/', shows: table('Webhooks, failing first') },
  'first-run': { path: () => '/first-run', shows: heading('First event') },
  'first-run-done': {
    path: ({ orders, warehouse }) => `/first-run?source=${orders}&webhook=${warehouse}`,
    shows: (page) => page.getByText('Use your own URL'),
  },
  'sample-receiver': { path: () => '/sample-receiver', shows: heading('Sample receiver') },
  sources: { path: () => '/sources', shows: table('Sources') },
  'source-create': { path: () => '/sources?action=create', shows: dialog('New source') },
  'source-events': { path: ({ orders }) => `/sources/${orders}`, shows: table('Events') },
  'source-event': {
    path: ({ orders, event }) => `/sources/${orders}?event=${event}`,
    shows: (page) => page.getByRole('tree'),
  },
  'source-run': {
    path: ({ orders }) => `/sources/${orders}`,
    open: press('Run with an event'),
    shows: dialog(/Run/),
  },
  'source-replay': {
    path: ({ orders }) => `/sources/${orders}`,
    open: press(/^Replay/),
    shows: dialog(/Replay/),
  },
  'source-delete': { path: ({ rates }) => `/sources/${rates}`, open: press('Delete'), shows: dialog(/Delete/) },
  'source-without-events': {
    path: ({ rates }) => `/sources/${rates}`,
    shows: (page) => page.getByText('No events yet'),
  },
  'source-runs': { path: ({ orders }) => `/sources/${orders}?tab=runs`, shows: table('Runs') },
  'source-logs': {
    path: ({ orders }) => `/sources/${orders}?tab=logs`,
    shows: (page) => page.getByRole('list', { name: 'Log lines' }),
  },
  'source-configuration': {
    path: ({ orders }) => `/sources/${orders}?tab=configuration`,
    shows: (page) => page.locator('.cm-content').first(),
  },
  'source-listeners': {
    path: ({ orders }) => `/sources/${orders}?tab=listeners`,
    shows: (page) => page.getByRole('row', { name: /Warehouse/ }),
  },
  workflows: { path: () => '/workflows', shows: table('Workflows') },
  'workflow-new': { path: () => '/workflows/new', shows: heading('New workflow') },
  'workflow-executions': { path: ({ workflow }) => `/workflows/${workflow}`, shows: table('Executions') },
  'workflow-replay-failed': {
    path: ({ workflow }) => `/workflows/${workflow}`,
    open: press('Replay failed…'),
    shows: dialog('Replay failed executions'),
  },
  'workflow-build': {
    path: ({ workflow }) => `/workflows/${workflow}?tab=build`,
    shows: (page) => page.getByText('reserve').first(),
  },
  'workflow-build-step': {
    path: ({ workflow }) => `/workflows/${workflow}?tab=build&step=reserve`,
    shows: (page) => page.getByRole('textbox', { name: 'URL', exact: true }),
  },
  'workflow-versions': {
    path: ({ workflow }) => `/workflows/${workflow}?tab=versions`,
    shows: (page) => page.getByText('Version 1').or(page.getByRole('row').nth(1)).first(),
  },
  'workflow-settings': {
    path: ({ workflow }) => `/workflows/${workflow}?tab=settings`,
    shows: (page) => page.getByLabel('Concurrency'),
  },
  execution: {
    path: ({ execution }) => `/executions/${execution}`,
    shows: (page) => page.getByRole('list', { name: 'Steps' }),
  },
  events: { path: () => '/events', shows: table('Events') },
  event: {
    path: ({ orders, event }) => `/events?event=${orders}-${event}`,
    shows: (page) => page.getByRole('tree'),
  },
  'events-none': { path: () => '/events?text=nowhere', shows: (page) => page.getByText('No event matches') },
  webhooks: { path: () => '/webhooks', shows: table('Webhooks') },
  'webhook-create': { path: () => '/webhooks?action=create', shows: dialog('New webhook') },
  'webhook-deliveries': { path: ({ warehouse }) => `/webhooks/${warehouse}`, shows: table('Deliveries') },
  'webhook-delivery': {
    path: ({ accounting, delivery }) => `/webhooks/${accounting}?delivery=${delivery}`,
    shows: (page) => page.getByRole('list', { name: 'Attempts' }),
  },
  'webhook-redeliver': {
    path: ({ accounting }) => `/webhooks/${accounting}`,
    open: press('Send all failed again'),
    shows: dialog(/again/),
  },
  'webhook-subscriptions': {
    path: ({ warehouse }) => `/webhooks/${warehouse}?tab=subscriptions`,
    shows: (page) => page.getByRole('row', { name: /Shop orders/ }),
  },
  'webhook-settings': {
    path: ({ warehouse }) => `/webhooks/${warehouse}?tab=settings`,
    shows: (page) => page.getByRole('heading', { name: 'Authentication and TLS' }),
  },
  subscriptions: {
    path: () => '/subscriptions',
    shows: (page) => page.getByRole('img', { name: /^\d+ subscriptions/ }),
  },
  replays: { path: () => '/replays', shows: table('Replays') },
  runs: { path: () => '/runs', shows: table('Abandoned runs') },
  run: {
    path: () => '/runs',
    open: (page) => page.getByRole('row', { name: /It ended/ }).click(),
    shows: (page) => page.getByRole('tree'),
  },
  delivery: {
    path: ({ delivery }) => `/deliveries/${delivery}`,
    shows: (page) => page.getByRole('list', { name: 'Attempts' }),
  },
  traces: { path: () => '/traces', shows: table('Newest events') },
  trace: { path: ({ orders, event }) => `/traces/${orders}-${event}`, shows: table('Trace') },
  'trace-node': {
    path: ({ orders, event }) => `/traces/${orders}-${event}`,
    open: (page) =>
      page
        .getByRole('row', { name: /Warehouse/ })
        .first()
        .click(),
    shows: (page) => page.getByRole('tree'),
  },
  registry: { path: () => '/registry', shows: table('Components of the registry') },
  'registry-component': { path: () => '/registry?key=http-send-request', shows: dialog(/./) },
  connections: { path: () => '/connections', shows: table('Connected accounts') },
  'connections-connect': {
    path: () => '/connections',
    open: press(/^Connect /),
    shows: dialog(/Connect/),
  },
  data: { path: () => '/data', shows: table('Data stores') },
  'data-records': { path: ({ store }) => `/data?store=${store}`, shows: table('Records') },
  'data-record': {
    path: ({ store }) => `/data?store=${store}`,
    open: (page) => page.getByRole('row', { name: /ada/ }).click(),
    shows: dialog('Edit ada'),
  },
  settings: { path: () => '/settings', shows: table('API keys') },
  'settings-environment': { path: () => '/settings?tab=environment', shows: (page) => page.getByText('WAREHOUSE_URL') },
  'settings-limits': { path: () => '/settings?tab=limits', shows: table('Limits') },
  'settings-usage': {
    path: () => '/settings?tab=usage',
    open: (page) => page.getByRole('button', { name: 'Table of usage' }).click(),
    shows: table('Usage by day'),
  },
  'settings-oauth': {
    path: () => '/settings?tab=oauth',
    shows: (page) => page.getByText('No clients of your own'),
  },
  'settings-traces': {
    path: () => '/settings?tab=traces',
    shows: (page) => page.getByRole('checkbox', { name: /Pass on traces/ }),
  },
  'settings-audit': { path: () => '/settings?tab=audit', shows: table('Audit log') },
  'operator-refused': { path: () => '/operator', shows: (page) => page.getByText('Only for the operator') },
  palette: {
    path: () => '/',
    async open(page) {
      await page.keyboard.press('Control+K');
      await page.getByRole('combobox', { name: 'Name or id' }).fill('shop');
    },
    shows: (page) => page.getByRole('option', { name: /Shop orders/ }),
  },
  shortcuts: { path: () => '/', open: (page) => page.keyboard.press('?'), shows: dialog('Keyboard') },
  'not-found': { path: () => '/nowhere', shows: (page) => page.getByRole('heading') },
};

/** Pages that show screens at the same time: more have nothing to gain from two processors. */
const PAGES_AT_ONCE = 3;

let headwater: Headwater;
let browser: TestBrowser;
let receiver: Receiver;
let ids: Ids;
const free: TestPage[] = [];
/** Screens that wait for a page, in their order. */
const waiting: ((page: TestPage) => void)[] = [];

beforeAll(async () => {
  [headwater, browser, receiver] = await Promise.all([startHeadwater({ web: true }), startBrowser(), startReceiver()]);
  const [filled, store] = await Promise.all([fillInstance(headwater, receiver, 2), fillMore()]);
  ids = { ...filled, store };
  await headwater.api('POST', '/replays', { emitter_id: filled.orders, listener_id: filled.warehouse });
  await headwater.sql`
    insert into abandoned_runs (id, account_id, source_id, kind, hops, event, error_message)
    values (${newId('invocation')}, ${headwater.accountId}, ${filled.orders}, 'http', 0, '{"order":1009}', 'It ended')`;
  for (let nth = 0; nth < PAGES_AT_ONCE; nth++) {
    const opened = await browser.open();
    await signIn(opened.page, headwater.url, headwater.apiKey);
    free.push(opened);
  }
}, SCREEN_MS);
afterAll(async () => {
  await browser.stop();
  await receiver.stop();
  await headwater.stop();
});

/** Returns the id of a data store with a record. */
async function fillMore(): Promise<string> {
  const { data: store } = await headwater.api('POST', '/data_stores', { name: 'Customers' });
  await headwater.api('PUT', `/data_stores/${store.id}/record`, { key: 'ada', value: { orders: 3 } });
  await headwater.api('POST', '/connected_accounts', { app: 'stripe', name: 'Shop', credentials: { api_key: 'sk_1' } });
  return store.id;
}

/** On a desk in the light theme, on a phone in the dark one. Nothing is wider than the screen. */
async function expectFit(page: Page, name: string): Promise<void> {
  const look = async (theme: 'light' | 'dark', size: (typeof SIZES)[keyof typeof SIZES]) => {
    await page.setViewportSize(size);
    await eventually(async () => (await page.getByRole('status', { name: 'Loading' }).count()) === 0);
    await picture(page, `${name}-${size.width}`);
    await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(size.width);
    await expectAccessible(page);
  };
  await look('light', SIZES.desk);
  await look('dark', SIZES.phone);
}

async function expectScreen({ page, check }: TestPage, name: string, { path, shows, open }: Screen): Promise<void> {
  await page.setViewportSize(SIZES.desk);
  // Without a load of the page: the router follows.
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path(ids))})`);
  await open?.(page);
  await shows(page).first().waitFor();
  await expectFit(page, name);
  await page.keyboard.press('Escape');
  check();
}

describe('axe finds nothing on a desk and on a phone, in both themes', { concurrent: true }, () => {
  test.each(Object.entries(SCREENS))(
    'on the screen %s',
    async (name, screen) => {
      const taken = free.pop() ?? (await new Promise<TestPage>((resolve) => waiting.push(resolve)));
      try {
        await expectScreen(taken, name, screen);
      } catch (error) {
        // Not left where the next screen would begin with what has failed.
        await taken.page.goto(headwater.url);
        throw error;
      } finally {
        const next = waiting.shift();
        if (next === undefined) free.push(taken);
        else next(taken);
      }
    },
    SCREEN_MS,
  );
});

test(
  'axe finds nothing where one signs in, for the operator, and in the portal of a customer',
  async () => {
    const { page, check } = await browser.open();
    await page.goto(headwater.url);
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
    await expectFit(page, 'sign-in');
    await signIn(page, headwater.url, `hw_${'a'.repeat(32)}`);
    await page.getByRole('table', { name: 'Accounts', exact: true }).waitFor();
    await expectFit(page, 'operator');
    await page.goto(`${headwater.url}/operator?account=${headwater.accountId}`);
    await page.getByRole('heading', { name: /Limits/ }).waitFor();
    await expectFit(page, 'operator-limits');
    const { data: link } = await headwater.api('POST', `/accounts/${headwater.accountId}/portal_links`, { theme: {} });
    await page.goto(link.url);
    await page.getByRole('row', { name: /Warehouse/ }).waitFor();
    await expectFit(page, 'portal-webhooks');
    await page.getByRole('row', { name: /Accounting/ }).click();
    await page.getByRole('table', { name: 'Deliveries' }).waitFor();
    await expectFit(page, 'portal-webhook');
    check();
  },
  SCREEN_MS * 2,
);
