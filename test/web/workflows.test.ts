import { afterAll, beforeAll, test } from 'vitest';
import { expectAccessible, picture, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';

let headwater: Headwater;
let browser: TestBrowser;

beforeAll(async () => {
  [headwater, browser] = await Promise.all([startHeadwater({ web: true }), startBrowser()]);
});
afterAll(async () => {
  await browser.stop();
  await headwater.stop();
});

const action = (run: string) =>
  `export default { name: 'Step', version: '1.0.0', type: 'action', async run({ steps }) { ${run} } }`;

test('a workflow is deployed, run by hand, and its execution is read and replayed from the failed step', async () => {
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/workflows`, headwater.apiKey);
  await page.getByRole('button', { name: 'New workflow' }).first().click();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Billing');
  await page.getByRole('textbox', { name: 'Code of the first step' }).fill(action('return 1'));
  await page.getByRole('button', { name: 'Deploy' }).click();
  await page.getByRole('heading', { name: 'Billing', level: 1 }).waitFor();
  const id = page.url().split('/').at(-1)?.split('?')[0] ?? '';
  await headwater.api('PUT', `/workflows/${id}`, {
    steps: [
      { namespace: 'first', component_code: action(`console.log('charged once'); return 1`) },
      { namespace: 'second', component_code: action(`throw new Error('the bank is closed')`) },
    ],
  });
  await page.reload();
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('the bank is closed').first().waitFor();
  await page.getByRole('listitem').filter({ hasText: 'first' }).first().click();
  await page.getByText('charged once').waitFor();
  await expectAccessible(page);
  await picture(page, 'execution');
  await page.getByRole('button', { name: 'Replay from the failed step' }).click();
  await page.getByRole('button', { name: 'Replay', exact: true }).waitFor();
  await page.getByRole('link', { name: id }).click();
  await page.getByRole('table', { name: 'Executions' }).getByRole('row').nth(2).waitFor();
  await picture(page, 'workflow');
  await page.getByRole('tab', { name: 'Versions' }).click();
  await page.getByRole('button', { name: 'Deploy version 1' }).click();
  await page.getByText('version 1', { exact: true }).waitFor();
  await expectAccessible(page);
  check();
});
