import { AxeBuilder } from '@axe-core/playwright';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright, type BrowserContextOptions, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';

/** Chromium's messages about a machine without a screen do not concern the page. */
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'];

const LOOPBACK = new Set(['127.0.0.1', 'localhost']);

export interface TestBrowser {
  /**
   * A page with its own cookies. Its test's `check` fails after a script error, a violation of the
   * content security policy, or a request that leaves the instance.
   */
  open(options?: BrowserContextOptions): Promise<TestPage>;
  stop(): Promise<void>;
}

export interface TestPage {
  page: Page;
  /** No script failed, no policy was broken, and nothing outside of loopback was asked. */
  check(): void;
}

/** A real Chromium of an npm package: nothing is installed for it. */
export async function startBrowser(): Promise<TestBrowser> {
  chromium.setGraphicsMode = false;
  const browser: Browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...new Set([...chromium.args.filter((one) => !one.startsWith('--single-process')), ...ARGUMENTS])],
    headless: true,
  });
  return {
    async open(options = {}) {
      const context = await browser.newContext({
        viewport: { width: 1440, height: 900 },
        reducedMotion: 'reduce',
        ...options,
      });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(String(error.stack ?? error)));
      page.on('console', (message) => {
        if (/content security policy/i.test(message.text())) faults.push(message.text());
      });
      page.on('request', (request) => {
        const { protocol, hostname } = new URL(request.url());
        if (/^https?:$/.test(protocol) && !LOOPBACK.has(hostname)) faults.push(`asked ${request.url()}`);
      });
      return { page, check: () => expect(faults).toEqual([]) };
    },
    stop: () => browser.close(),
  };
}

/** Signs in as a person would. */
export async function signIn(page: Page, url: string, apiKey: string): Promise<void> {
  await page.goto(url);
  await page.getByRole('textbox', { name: 'API key' }).fill(apiKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('textbox', { name: 'API key' }).waitFor({ state: 'detached' });
}

const SETTLED = `Promise.all(document.getAnimations().filter((one) => one instanceof CSSTransition)
  .map((one) => one.finished.catch(() => undefined))).then(() => undefined)`;

/**
 * No finding of axe that is serious or worse, once the page has come to rest. Data that arrives and
 * a theme that changes while axe looks show it colours of before beside those of after.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await eventually(
    async () => {
      expect(await seriousFindings(page)).toEqual([]);
      return true;
    },
    { timeoutMs: AT_REST_MS, everyMs: 200, what: 'a page without findings of axe' },
  );
}

const AT_REST_MS = 3_000;

async function seriousFindings(page: Page) {
  // In the middle of a change of the theme colours are neither those of before nor those of after.
  await page.evaluate(SETTLED);
  const isThere = await page.evaluate(`'axe' in window`);
  // Half a megabyte is parsed once a page. Without legacy mode each run opens a page of its own.
  const axe = new AxeBuilder(isThere === true ? { page, axeSource: ';' } : { page }).setLegacyMode(true);
  const { violations } = await axe.analyze();
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.map(({ id, nodes }) => ({
    id,
    at: nodes.map(({ html, failureSummary }) => [html.slice(0, 200), failureSummary]),
  }));
}

/** For people to look at: set the variable to a folder, and each flow leaves its pictures there. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['HEADWATER_TEST_PICTURES'];
  if (folder === undefined) return;
  for (const theme of ['light', 'dark'] as const) {
    await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
    await page.evaluate(SETTLED);
    await page.screenshot({ path: `${folder}/${name}-${theme}.png` });
  }
  await page.evaluate(`document.documentElement.dataset.theme = 'light'`);
}
