import type { Browser, Page } from 'playwright-core';
import { signIn, startBrowser } from './browser.ts';
import { eventually } from './eventually.ts';
import { setup } from './global-setup.ts';
import { type Headwater, startHeadwater } from './headwater.ts';

const PAGE_ROWS = 1_000;
const PAGES = 100;
const STEPS = 2_000;
const KEYS = 10_000;
const SCROLL_MS = 5_000;
const LIVE_MS = 10_000;
const LIVE_PER_SECOND = 100;
const LOOKS = 5;

/**
 * Prints how long the pages with the longest lists keep the browser busy: the figures of
 * docs/web.md. The lists that no instance has at hand are answers made up here.
 */
async function measure(): Promise<void> {
  const stopDatabase = await setup();
  const headwater = await startHeadwater({ web: true });
  const browser = await startBrowser();
  try {
    const { page } = await browser.open();
    const source = await publishEvents(headwater);
    await signIn(page, headwater.url, headwater.apiKey);
    report('100 events on screen after their data', await measureFirstRows(page, headwater.url));
    report(`${PAGE_ROWS * PAGES} deliveries, scrolled`, await measureDeliveries(page, headwater));
    report(`${STEPS} steps, scrolled`, await measureSteps(page, headwater));
    report(`${KEYS} keys, scrolled`, await measureKeys(page, headwater, source));
    report(`${LIVE_PER_SECOND} events a second, live`, await measureLive(page, headwater, source));
  } finally {
    await browser.stop();
    await headwater.stop();
    await stopDatabase();
  }
}

function report(what: string, figures: Record<string, number>): void {
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${Math.round(value)}`);
  console.log(`${what.padEnd(42)}${shown.join(', ')}`);
}

/** A source with a hundred events, the newest of them with very many keys. */
async function publishEvents({ api }: Headwater): Promise<string> {
  const { data: source } = await api('POST', '/sources', { kind: 'ingest', name: 'Measured' });
  const events = Array.from({ length: 99 }, (_, at) => ({
    data: { order: at, customer: 'Ada' },
    summary: `order ${at}`,
  }));
  await api('POST', `/sources/${source.id}/events`, { events });
  const wide = Object.fromEntries(Array.from({ length: KEYS }, (_, at) => [`key${at}`, { at }]));
  await api('POST', `/sources/${source.id}/events`, { data: wide, summary: 'wide' });
  return source.id;
}

/** Time from the last byte of the list to the frame with its rows; the median of several looks. */
async function measureFirstRows(page: Page, url: string): Promise<Record<string, number>> {
  const times: number[] = [];
  for (let look = 0; look < LOOKS; look++) {
    await page.goto(`${url}/settings`);
    await atRest(page);
    const ms = await page.evaluate(`new Promise((resolve) => {
      performance.clearResourceTimings();
      document.querySelector('nav a[href$="/events"]').click();
      const look = () => {
        if (document.querySelectorAll('[role=table] [role=row]').length < 20) return requestAnimationFrame(look);
        requestAnimationFrame(() => {
          const shownMs = performance.now();
          const answers = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/v1/events?'));
          resolve(answers.length === 0 ? undefined : shownMs - answers[0].responseEnd);
        });
      };
      look();
    })`);
    if (typeof ms === 'number') times.push(ms);
  }
  times.sort((a, b) => a - b);
  return { 'median ms': times[Math.floor(times.length / 2)] ?? Number.NaN, 'worst ms': times.at(-1) ?? Number.NaN };
}

/** The code of the other pages is loaded a second after a page is shown. */
async function atRest(page: Page): Promise<void> {
  await page.waitForTimeout(3_000);
}

/** The page scrolls for some seconds, down by each frame and now and then to anywhere. */
async function scroll(page: Page, selector: string): Promise<Record<string, number>> {
  await atRest(page);
  return tasksDuring(page, async () => {
    await page.evaluate(`new Promise((resolve) => {
      const scroller = document.querySelector(${JSON.stringify(selector)});
      const startMs = performance.now();
      let frames = 0;
      const step = () => {
        frames++;
        if (frames % 20 === 0) scroller.scrollTop = Math.random() * scroller.scrollHeight;
        else scroller.scrollTop += 300;
        if (performance.now() - startMs < ${SCROLL_MS}) return requestAnimationFrame(step);
        resolve();
      };
      step();
    })`);
  });
}

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  args: { name?: string };
  dur?: number;
  /** Processor time of the thread, in microseconds: what others do on the machine is not in it. */
  tdur?: number;
}

/** The tasks of the page's main thread, by processor time and by the clock. */
async function tasksDuring(page: Page, act: () => Promise<void>): Promise<Record<string, number>> {
  const browser = page.context().browser() as Browser;
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString('utf8')) as { traceEvents: TraceEvent[] };
  const mains = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
  const isOfPage = ({ pid, tid }: TraceEvent) => mains.some((main) => main.pid === pid && main.tid === tid);
  const tasks = traceEvents.filter((event) => event.name === 'ThreadControllerImpl::RunTask' && isOfPage(event));
  const cpuMs = tasks.map(({ tdur = 0 }) => tdur / 1_000).sort((a, b) => b - a);
  const clockMs = tasks.map(({ dur = 0 }) => dur / 1_000);
  return {
    tasks: tasks.length,
    'longest ms': cpuMs[0] ?? Number.NaN,
    '10th longest ms': cpuMs[9] ?? Number.NaN,
    'over 50 ms': cpuMs.filter((ms) => ms > 50).length,
    'by the clock': clockMs.filter((ms) => ms > 50).length,
  };
}

async function measureDeliveries(page: Page, headwater: Headwater): Promise<Record<string, number>> {
  const { data: webhook } = await headwater.api('POST', '/webhooks', { url: `${headwater.url}/nowhere`, name: 'Many' });
  await page.route(/\/deliveries\?/, async (route) => {
    const at = Number(new URL(route.request().url()).searchParams.get('after') ?? 0);
    const data = Array.from({ length: PAGE_ROWS }, (_, row) => deliveryOf(webhook.id, at * PAGE_ROWS + row));
    const next = at + 1 < PAGES ? String(at + 1) : null;
    const info = { count: data.length, total_count: PAGE_ROWS * PAGES, start_cursor: String(at), end_cursor: next };
    await route.fulfill({ json: { data, page_info: info } });
  });
  await page.goto(`${headwater.url}/webhooks/${webhook.id}`);
  const more = page.getByRole('button', { name: 'Show more' });
  for (let pages = 1; pages < PAGES; pages++) {
    await more.click();
    await eventually(async () => (await rowCount(page)) > pages * PAGE_ROWS, { everyMs: 20, timeoutMs: 60_000 });
  }
  const figures = await scroll(page, 'main');
  await page.unroute(/\/deliveries\?/);
  return figures;
}

async function rowCount(page: Page): Promise<number> {
  return Number(await page.getByRole('table', { name: 'Deliveries' }).getAttribute('aria-rowcount'));
}

function deliveryOf(webhookId: string, at: number) {
  const attempt = {
    id: `att_${at}`,
    at: new Date(1.7e12 + at).toISOString(),
    status_code: 200,
    error: null,
    location: null,
  };
  return {
    id: `dlv_${at}`,
    webhook_id: webhookId,
    emitter_id: 'dc_1',
    event_id: `1700000000000-${at}`,
    status: at % 7 === 0 ? 'failed' : 'delivered',
    error_class: null,
    attempts: [attempt],
    next_attempt_at: null,
    replay_id: null,
    created_at: 1.7e9 + at,
  };
}

async function measureSteps(page: Page, headwater: Headwater): Promise<Record<string, number>> {
  const id = `exec_${'1'.repeat(20)}`;
  const steps = Array.from({ length: STEPS }, (_, at) => [
    `step${at}`,
    {
      status: at % 40 === 0 ? 'continued' : 'done',
      started_at: 1.7e12 + at * 20,
      ended_at: 1.7e12 + at * 20 + 15,
      runs: 1,
      error:
        at % 40 === 0 ? { code: 'COMPONENT_ERROR', message: `no ${at}`, namespace: `step${at}`, stack: null } : null,
      logs: [],
      exports: { at },
      props: {},
      $return_value: { at },
    },
  ]);
  const execution = {
    id,
    workflow_id: `p_${'1'.repeat(20)}`,
    trace_id: id,
    status: 'succeeded',
    started_at: 1.7e12,
    ended_at: 1.7e12 + STEPS * 20,
    reason: null,
    replay_of: null,
    wait: null,
    error: null,
    trigger: { event: {} },
    steps: Object.fromEntries(steps),
  };
  await page.route(`**/v1/executions/${id}`, (route) => route.fulfill({ json: { data: execution } }));
  await page.goto(`${headwater.url}/executions/${id}`);
  await page.getByRole('list', { name: 'Steps' }).waitFor();
  return scroll(page, 'main');
}

async function measureKeys(page: Page, headwater: Headwater, sourceId: string): Promise<Record<string, number>> {
  await page.goto(`${headwater.url}/sources/${sourceId}`);
  await page.getByRole('row', { name: 'wide' }).click();
  await page.getByRole('tree', { name: 'Event' }).waitFor();
  return scroll(page, '[role=tree]');
}

async function measureLive(page: Page, headwater: Headwater, sourceId: string): Promise<Record<string, number>> {
  await page.goto(`${headwater.url}/sources/${sourceId}`);
  await page.getByRole('row', { name: 'wide' }).waitFor();
  const count = (LIVE_MS / 1_000) * LIVE_PER_SECOND;
  const startMs = performance.now();
  const tasks = await tasksDuring(page, async () => {
    for (let sent = 0; sent < count; sent += 10) {
      const events = Array.from({ length: 10 }, (_, at) => ({ data: { at: sent + at }, summary: `live ${sent + at}` }));
      await headwater.api('POST', `/sources/${sourceId}/events`, { events });
      const untilMs = startMs + (sent / LIVE_PER_SECOND) * 1_000;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, untilMs - performance.now())));
    }
    await page.getByRole('row', { name: `live ${count - 1}` }).waitFor();
  });
  return { ...tasks, seconds: (performance.now() - startMs) / 1_000 };
}

await measure();
