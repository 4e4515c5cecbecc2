import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { startFileServer } from '../support/file-server.ts';
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

const SURVEY = `export default {
  name: 'Survey', version: '1.0.0',
  props: {
    region: { type: 'string', label: 'Region', options: ['north', 'south'] },
    city: {
      type: 'string', label: 'City', description: 'One of the **region**',
      async options({ page }) {
        return Array.from({ length: 3 }, (_, at) => this.region + ' city ' + (page * 3 + at)).slice(0, page > 1 ? 0 : 3);
      },
    },
    kind: { type: 'string', label: 'Kind', options: ['plain', 'extra'], reloadProps: true },
    token: { type: 'string', label: 'Token', secret: true },
    limit: { type: 'integer', label: 'Limit', min: 1, max: 5 },
    timer: { type: '$.interface.timer', label: 'Every', default: { intervalSeconds: 3600 } },
  },
  async additionalProps() {
    return this.kind === 'extra' ? { note: { type: 'string', label: 'Note' } } : {};
  },
  async run() { this.$emit({ city: this.city, note: this.note, tokenIs: this.token.length, limit: this.limit }); },
};`;

test('a form asks the component for choices that page and depend on others, and for further props', async () => {
  const server = await startFileServer();
  server.serve('/survey.mjs', SURVEY);
  const { page, check } = await browser.open();
  await signIn(
    page,
    `${headwater.url}/sources?action=create&url=${encodeURIComponent(`${server.url}/survey.mjs`)}`,
    headwater.apiKey,
  );
  await page.getByRole('heading', { name: 'Configure Survey' }).waitFor();
  await page.getByRole('combobox', { name: 'Region' }).click();
  await page.getByRole('option', { name: 'south' }).click();
  await page.getByRole('combobox', { name: 'City' }).click();
  await page.getByRole('option', { name: 'south city 0' }).waitFor();
  await page.getByRole('button', { name: 'More choices' }).click();
  await page.getByRole('option', { name: 'south city 4' }).click();
  await page.getByRole('combobox', { name: 'Kind', exact: true }).click();
  await page.getByRole('option', { name: 'extra' }).click();
  await page.getByRole('textbox', { name: 'Note' }).fill('by hand');
  await page.getByRole('textbox', { name: 'Token' }).fill('hush');
  await page.getByRole('spinbutton', { name: 'Limit' }).fill('9');
  await page.getByRole('button', { name: 'Create source' }).click();
  await page.getByRole('alert').first().waitFor();
  await page.getByRole('spinbutton', { name: 'Limit' }).fill('5');
  await expectAccessible(page);
  await picture(page, 'source-props');
  await page.getByRole('button', { name: 'Create source' }).click();
  await page.getByRole('heading', { name: 'Survey', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByRole('row', { name: /south city 4/ }).waitFor();
  await page.getByRole('tab', { name: 'Configuration' }).click();
  await page.getByRole('spinbutton', { name: 'Limit' }).fill('3');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(async () => {
      const { data } = await headwater.api('GET', '/users/me/sources');
      return data[0].configured_props;
    })
    .toMatchObject({ limit: 3, note: 'by hand', city: 'south city 4' });
  await picture(page, 'source-configuration');
  await expectAccessible(page);
  check();
  await server.stop();
});

test('the settings of an endpoint are changed beside its props', async () => {
  const source = await headwater.deploy(
    `export default { name: 'Fast', version: '1.0.0', props: { http: '$.interface.http' }, async run() {} }`,
  );
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources/${source.id}?tab=configuration`, headwater.apiKey);
  await page.getByRole('combobox', { name: 'Durability' }).selectOption('none');
  await page.getByRole('combobox', { name: 'CORS preflight' }).selectOption('run');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(async () => (await headwater.api('GET', `/sources/${source.id}`)).data)
    .toMatchObject({ durability: 'none', preflight: 'run' });
  check();
});
