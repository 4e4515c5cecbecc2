import { afterAll, beforeAll, expect, test } from 'vitest';
import { signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { API_KEY, freePort, startServer, type TestServer } from '../support/server.ts';

let browser: TestBrowser;
let database: TestDatabase;
let server: TestServer;
let port: number;

beforeAll(async () => {
  port = await freePort();
  [browser, database] = await Promise.all([startBrowser(), createTestDatabase()]);
  server = await startServer({ databaseUrl: database.url, port });
});
afterAll(async () => {
  await browser.stop();
  await server.stop();
  await database.drop();
});

const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' },
  run(event) { this.$emit(event.body, { summary: event.body.summary }); } };`;

test('a page that is open while the server is killed says so, and goes on by itself when it is back', async () => {
  const { body } = await server.api('POST', '/sources', { component_code: BIN });
  const endpoint: string = body.data.configured_props.http.endpoint_url;
  const send = (summary: string) =>
    fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ summary }),
    });
  const { page, check } = await browser.open();
  await signIn(page, `${server.url}/sources/${body.data.id}`, API_KEY);
  await send('before');
  await page.getByRole('row', { name: 'before' }).waitFor();
  await server.process.end('SIGKILL');
  await page.getByText('reconnecting').waitFor();
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByText('The server does not answer').waitFor();
  server = await startServer({ databaseUrl: database.url, port });
  await page.getByText('The server does not answer').waitFor({ state: 'detached' });
  await page.getByText('No webhooks yet').waitFor();
  await page.goBack();
  await send('after');
  await page.getByRole('row', { name: 'after' }).waitFor();
  expect(await page.getByRole('row', { name: 'before' }).count()).toBe(1);
  check();
});

test('a workflow that is being built outlasts a restart of the server, and is deployed after it', async () => {
  const { page, check } = await browser.open();
  await signIn(page, `${server.url}/workflows/new`, API_KEY);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Survivor');
  await page.getByRole('button', { name: 'Add step', exact: true }).click();
  await page.getByRole('tab', { name: 'Code' }).click();
  await page.getByRole('button', { name: 'Add code step' }).click();
  const code = page.getByRole('textbox', { name: 'Code of code' });
  await code.fill('export default { run() { return "survived"; } };');
  await server.process.end('SIGKILL');
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();
  await page.getByText('The server does not answer').waitFor();
  server = await startServer({ databaseUrl: database.url, port });
  await page.getByText('The server does not answer').waitFor({ state: 'detached' });
  await expect.poll(() => code.innerText()).toContain('survived');
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();
  await page.getByRole('heading', { name: 'Survivor', level: 1 }).waitFor();
  await page.getByRole('list', { name: 'Steps' }).getByRole('button', { name: /^code/ }).click();
  await page.getByRole('button', { name: 'Test step' }).click();
  await page.getByRole('tree', { name: 'What code returned' }).getByText('"survived"').waitFor();
  check();
});
