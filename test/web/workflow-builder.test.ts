import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

/** In both themes. */
async function expectAccessibleInBoth(page: Page): Promise<void> {
  await expectAccessible(page);
  await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
  await expectAccessible(page);
  await page.evaluate(`document.documentElement.dataset.theme = 'light'`);
}

const GREETING = `export default {
  name: 'Greeting', version: '1.0.0', type: 'action', key: 'greeting',
  props: {
    name: { type: 'string', label: 'Name of the guest' },
    times: { type: 'integer', label: 'Times', optional: true },
  },
  async run({ $ }) {
    console.log('greeting', this.name);
    $.export('text', 'Hello ' + this.name);
    return this.times;
  },
};`;
const OPEN = `export default { name: 'Charge', version: '1.0.0', type: 'action',
  props: { text: { type: 'string', label: 'Text' } },
  async run() { throw new Error('the bank is closed'); } };`;

const fillCode = async (page: Page, name: string, code: string) => {
  await page.getByRole('textbox', { name }).fill(code);
};

test('a workflow of three steps is built with values of a past event, tried out, deployed, run and replayed', async () => {
  const { data: component } = await headwater.api('POST', '/components', { component_code: GREETING });
  await headwater.api('POST', `/components/${component.id}/publish`, {});
  const source = await headwater.deploy(`export default { name: 'Orders', version: '1.0.0',
    props: { http: '$.interface.http' }, async run(event) { this.$emit(event.body, { summary: 'Order 7' }); } };`);
  await fetch(source.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ order: { id: 7, 'first name': 'Ada' }, items: [{ count: 3 }] }),
  });
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/workflows`, headwater.apiKey);
  await page.getByRole('button', { name: 'New workflow' }).first().click();
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  expect(await name.inputValue()).toBe('My workflow');
  await name.fill('Billing');

  // Its trigger: a source that has emitted before.
  await page.getByRole('combobox', { name: 'Starts at' }).selectOption({ label: 'an event of a source' });
  await page.getByRole('combobox', { name: 'Source', exact: true }).selectOption({ label: 'Orders' });
  await page.getByRole('tree', { name: 'Test event' }).getByText('"Ada"').waitFor();
  await expectAccessibleInBoth(page);
  await picture(page, 'builder-trigger');

  // A step of a published action, with two values of the event.
  await page.getByRole('button', { name: 'Add step', exact: true }).click();
  await page.getByRole('searchbox', { name: 'Search actions' }).fill('greet');
  await page.getByRole('button', { name: /Greeting/ }).click();
  await expect.poll(() => page.evaluate('document.activeElement?.dataset.step')).toBe('greeting');
  await page.getByRole('button', { name: 'Insert a value into Name of the guest' }).click();
  const picker = page.getByRole('dialog');
  await picture(page, 'builder-picker');
  await expectAccessibleInBoth(page);
  await picker.getByRole('button', { name: 'Use $.order["first name"]' }).click();
  const guest = page.getByRole('textbox', { name: 'Name of the guest' });
  await expect.poll(() => guest.inputValue()).toBe('{{steps.trigger.event.order["first name"]}}');
  await page.getByRole('button', { name: 'Insert a value into Times' }).click();
  await picker.getByRole('button', { name: 'Use $.items[0].count' }).click();
  await page.getByRole('button', { name: 'Test step' }).click();
  const result = page.getByRole('group', { name: 'Result of greeting' });
  await result.getByText('"Hello Ada"').waitFor();
  await result.getByRole('tree', { name: 'Inputs of greeting' }).getByText('"Ada"').waitFor();
  await expectAccessibleInBoth(page);
  await picture(page, 'builder-tested');

  // Two steps of code; the last reads what the test of the first exported.
  await page.getByRole('button', { name: 'Add step', exact: true }).click();
  await page.getByRole('tab', { name: 'Code' }).click();
  await page.getByRole('button', { name: 'Add code step' }).click();
  await fillCode(page, 'Code of code', 'export default { run({ steps }) { return steps.greeting.text.length; } };');
  await page.getByRole('textbox', { name: 'Step name' }).fill('measure');
  await page.getByRole('textbox', { name: 'Step name' }).press('Enter');
  await page.getByRole('button', { name: 'Test step' }).click();
  await page.getByRole('tree', { name: 'What measure returned' }).getByText('9').waitFor();
  await page.getByRole('button', { name: 'Add step', exact: true }).click();
  await page.getByRole('tab', { name: 'Code' }).click();
  await page.getByRole('button', { name: 'Add code step' }).click();
  await fillCode(page, 'Code of code', OPEN);
  await page.getByRole('button', { name: 'Show its props' }).click();

  // A save without a value is refused, beside its field.
  await page.getByRole('button', { name: 'Deploy' }).click();
  await page.getByRole('button', { name: /code.*refused/ }).waitFor();
  await page.getByRole('textbox', { name: 'Text' }).and(page.locator('[aria-invalid]')).waitFor();
  await page.getByRole('button', { name: 'Insert a value into Text' }).click();
  await picker.getByRole('group', { name: 'Step greeting' }).getByRole('button', { name: 'Use $.text' }).click();
  await picture(page, 'builder-three-steps');
  await page.getByRole('button', { name: 'Deploy' }).click();
  await page.getByRole('heading', { name: 'Billing', level: 1 }).waitFor();

  // A run of it, to the step that fails.
  await page.getByRole('button', { name: 'Run now' }).click();
  await page
    .getByRole('dialog')
    .getByRole('textbox', { name: 'Event' })
    .fill('{"order":{"id":8,"first name":"Grace"},"items":[{"count":1}]}');
  await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('the bank is closed').first().waitFor();
  await page.getByRole('tree', { name: 'Inputs of code' }).getByText('"Hello Grace"').waitFor();
  await expectAccessibleInBoth(page);
  await picture(page, 'execution-inputs');
  const idOf = (url: string) => /exec_\w+/.exec(url)?.[0] ?? '';
  const first = idOf(page.url());
  await page.getByRole('button', { name: 'Replay from the failed step' }).click();
  await page.getByText('Replay of').waitFor();
  // The steps before it are those of the first time; only the failed one ran again.
  await page.getByRole('alert').getByText('the bank is closed').waitFor();
  const startOf = async (id: string) => {
    const { steps } = (await headwater.api('GET', `/executions/${id}`)).data;
    return [steps.greeting.started_at, steps.code.started_at] as [greeting: number, code: number];
  };
  const [before, after] = [await startOf(first), await startOf(idOf(page.url()))];
  expect([after[0], after[1] > before[1]]).toEqual([before[0], true]);
  check();
});

const ECHO = `export default { name: 'Echo', version: '1.0.0', type: 'action',
  props: { text: { type: 'string', label: 'Text' } }, run() { return this.text; } };`;

async function makeEcho(name: string) {
  const { data } = await headwater.api('POST', '/workflows', {
    name,
    triggers: [{ type: 'http' }],
    steps: [
      { namespace: 'first', component_code: ECHO, props: { text: 'one' } },
      { namespace: 'second', component_code: ECHO, props: { text: '{{steps.first.$return_value}} two' } },
    ],
  });
  return data;
}

test('steps are renamed, moved, copied and deleted by keyboard; a version is compared and rolled back', async () => {
  const workflow = await makeEcho('Ledger');
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/workflows/${workflow.id}?tab=build&step=first`, headwater.apiKey);
  const steps = page.getByRole('list', { name: 'Steps' });
  const name = page.getByRole('textbox', { name: 'Step name' });
  await name.focus();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('second');
  await page.getByText('Another step has this name.').waitFor();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('greet');
  await page.keyboard.press('Enter');
  // Expressions that read the step use its new name, and the URL keeps the open step.
  await expect.poll(() => page.url()).toContain('step=greet');
  await steps.getByRole('button', { name: /^second/ }).focus();
  await page.keyboard.press('Enter');
  await expect
    .poll(() => page.getByRole('textbox', { name: 'Text' }).inputValue())
    .toBe('{{steps.greet.$return_value}} two');
  await page.getByRole('button', { name: 'Duplicate second' }).focus();
  await page.keyboard.press('Enter');
  await steps.getByRole('button', { name: /^second_2/ }).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await expect
    .poll(() => steps.getByRole('button').allInnerTexts())
    .toSatisfy((texts: string[]) => {
      const at = (wanted: string) => texts.findIndex((text) => text.startsWith(wanted));
      return at('second_2') > 0 && at('second_2') < texts.findLastIndex((text) => text.startsWith('second\n'));
    });
  // The focus stays where it was.
  const focused = page.locator('[data-step]:focus');
  await expect.poll(() => focused.getAttribute('data-step')).toBe('second_2');
  await page.getByRole('button', { name: 'Delete second_2' }).click();
  await expect.poll(() => focused.getAttribute('data-step')).toBe('greet');
  // The draft outlasts a look at another page.
  await page.getByRole('link', { name: 'Sources', exact: true }).click();
  await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();
  await page.getByText('version 2', { exact: true }).waitFor();
  await page.getByRole('tab', { name: 'Versions' }).click();
  await page.getByRole('button', { name: 'Show version 1' }).click();
  await page.getByRole('heading', { name: 'Version 1 → 2' }).waitFor();
  await page.locator('.cm-deletedChunk').first().waitFor();
  await expectAccessibleInBoth(page);
  await picture(page, 'workflow-versions');
  await page.getByRole('button', { name: 'Deploy version 1' }).click();
  await page.getByText('version 1', { exact: true }).waitFor();
  const { data } = await headwater.api('GET', `/workflows/${workflow.id}`);
  expect(data.steps.map(({ namespace }: { namespace: string }) => namespace)).toEqual(['first', 'second']);
  // The builder shows the version that runs now.
  await page.getByRole('tab', { name: 'Build' }).click();
  await steps.getByRole('button', { name: /^first/ }).click();
  // Secrets of the account are named; their values are for steps alone.
  await headwater.api('PUT', '/environment_variables/SHOP_TOKEN', { value: 'a token of the shop' });
  await page.getByRole('button', { name: 'Insert a value into Text' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'env.SHOP_TOKEN' }).click();
  await expect.poll(() => page.getByRole('textbox', { name: 'Text' }).inputValue()).toContain('{{env.SHOP_TOKEN}}');
  // A change of it changes nothing else, though another version was saved last.
  await page.getByRole('textbox', { name: 'Text' }).fill('one more');
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();
  await page.getByText('version 3', { exact: true }).waitFor();
  const { data: third } = await headwater.api('GET', `/workflows/${workflow.id}`);
  expect(third.steps.map(({ props }: { props: unknown }) => props)).toEqual([
    { text: 'one more' },
    { text: '{{steps.first.$return_value}} two' },
  ]);
  check();
});

test('settings are saved as a version, a refusal stands beside its field, and a phone shows it all', async () => {
  const workflow = await makeEcho('Payroll');
  const { page, check } = await browser.open({ viewport: { width: 390, height: 844 } });
  await signIn(page, `${headwater.url}/workflows/${workflow.id}?tab=settings`, headwater.apiKey);
  await page.getByRole('spinbutton', { name: 'Concurrency' }).fill('1');
  await page.getByRole('spinbutton', { name: 'Retries' }).fill('99');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('spinbutton', { name: 'Retries' }).and(page.locator('[aria-invalid]')).waitFor();
  await page.getByRole('spinbutton', { name: 'Retries' }).fill('2');
  await page.getByRole('spinbutton', { name: 'Throttle', exact: true }).fill('5');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('version 2', { exact: true }).waitFor();
  const { data } = await headwater.api('GET', `/workflows/${workflow.id}`);
  expect(data.settings).toMatchObject({ concurrency: 1, retries: 2, throttle: { limit: 5, interval_seconds: 60 } });
  await expectAccessibleInBoth(page);
  await picture(page, 'workflow-settings-phone');
  await page.getByRole('tab', { name: 'Build' }).click();
  await page.getByRole('button', { name: /^second/ }).click();
  await page.getByRole('button', { name: 'Test up to here' }).click();
  await page.getByRole('tree', { name: 'What second returned' }).getByText('"one two"').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await expectAccessibleInBoth(page);
  await picture(page, 'builder-phone');
  check();
});

test('an execution that waits is counted in its list, and goes on at a click', async () => {
  const step = (namespace: string, run: string) => ({
    namespace,
    component_code: `export default { run({ steps, $ }) { ${run} } };`,
  });
  const { data: workflow } = await headwater.api('POST', '/workflows', {
    name: 'Approval',
    steps: [step('ask', '$.flow.suspend(3600000)'), step('after', `return 'went on'`)],
  });
  await headwater.api('POST', `/workflows/${workflow.id}/run`, {});
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/workflows/${workflow.id}`, headwater.apiKey);
  await page.getByRole('button', { name: '1 waiting' }).click();
  await expect.poll(() => page.url()).toContain('status=waiting');
  await page.getByRole('combobox', { name: 'Time' }).selectOption('From … to …');
  await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00:00');
  await page.getByText('No execution of this time is waiting').waitFor();
  await page.getByRole('combobox', { name: 'Time' }).selectOption('Last 15 minutes');
  await expect.poll(() => page.url()).toMatch(/time=15m/);
  await page
    .getByRole('table', { name: 'Executions' })
    .getByRole('row', { name: /waiting/ })
    .click();
  await page.getByRole('button', { name: 'Resume now' }).click();
  await page.getByRole('listitem').filter({ hasText: 'after' }).click();
  await page.getByText('"went on"').waitFor();
  await expectAccessibleInBoth(page);
  check();
});

test('a version that another user deployed meanwhile is reported before it is replaced', async () => {
  const workflow = await makeEcho('Payroll');
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/workflows/${workflow.id}?tab=build&step=first`, headwater.apiKey);
  await page.getByRole('textbox', { name: 'Text' }).fill('mine');
  const first = async () =>
    (await headwater.api('GET', `/workflows/${workflow.id}`)).data.steps[0].props.text as string;
  const theirs = { steps: [{ namespace: 'first', props: { text: 'theirs' } }, { namespace: 'second' }] };
  expect((await headwater.api('PUT', `/workflows/${workflow.id}`, theirs)).status).toBe(200);
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();
  await page.getByText('Another version was deployed since you began.').waitFor();
  expect(await first()).toBe('theirs');
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();
  await expect.poll(first).toBe('mine');
  check();
});
