import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible, picture, signIn, startBrowser, type TestBrowser } from '../support/browser.ts';
import { newId } from '../../shared/src/index.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { makeMember } from '../support/members.ts';
import { startReceiver } from '../support/receiver.ts';

let headwater: Headwater;
let browser: TestBrowser;

beforeAll(async () => {
  [headwater, browser] = await Promise.all([startHeadwater({ web: true }), startBrowser()]);
});
afterAll(async () => {
  await browser.stop();
  await headwater.stop();
});

const SOURCE = `export default { name: 'Orders', version: '1.0.0', async run({ order, fails }) {
  if (fails) throw new Error('no stock');
  this.$emit({ order }, { summary: 'Order ' + order });
} };`;

test('a link to an event shows it, whether or not the list does', async () => {
  const { id } = await headwater.deploy(SOURCE);
  await headwater.api('POST', `/sources/${id}/run`, { event: { order: 1 } });
  const [first] = await headwater.untilEvents(id, 1);
  for (let order = 2; order <= 130; order++) await headwater.api('POST', `/sources/${id}/run`, { event: { order } });
  await headwater.untilIdle();
  const newest = (await headwater.api('GET', `/sources/${id}/event_summaries`, { limit: 3 })).data[2];
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources/${id}?event=${newest.id}`, headwater.apiKey);
  const selected = page.getByRole('row', { name: newest.metadata.summary, exact: false, selected: true });
  await selected.waitFor();
  await page.getByRole('tree').getByText(newest.metadata.summary.slice('Order '.length), { exact: true }).waitFor();
  // The list keeps the newest hundred; this one is older.
  await page.goto(`${headwater.url}/sources/${id}?event=${first?.id}`);
  await page.getByRole('tree').getByText('1', { exact: true }).waitFor();
  await page.getByRole('row', { name: 'Order 130' }).waitFor();
  // The same among the events of all sources, where the list is of others.
  await page.goto(`${headwater.url}/events?text=Order%20130&event=${id}-${first?.id}`);
  await page.getByRole('row', { name: 'Order 130' }).waitFor();
  await page.getByRole('tree').getByText('1', { exact: true }).waitFor();
  check();
}, 180_000);

test('the list of sources shows the last event and why the last run failed, and so does a source without events', async () => {
  const { id } = await headwater.deploy(SOURCE.replace('Orders', 'Closed shop'));
  await headwater.api('POST', `/sources/${id}/run`, { event: { fails: true } });
  await headwater.untilIdle();
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources`, headwater.apiKey);
  const sources = page.getByRole('table', { name: 'Sources' });
  await sources.getByRole('row', { name: /Closed shop.*none.*no stock/ }).waitFor();
  // The owner stands in the row.
  const { data: user } = await headwater.api('GET', '/users/me');
  await sources.getByRole('row', { name: new RegExp(`Closed shop.*${user.username}`) }).waitFor();
  await sources.getByRole('row', { name: /Orders.*(ago|now)/ }).waitFor();
  await expectAccessible(page);
  await picture(page, 'sources-last');
  await sources.getByRole('row', { name: /Closed shop/ }).click();
  await page.getByText('A run failed').waitFor();
  await page.getByRole('link', { name: 'Logs' }).click();
  await page.getByRole('list', { name: 'Log lines' }).getByText('no stock').first().waitFor();
  check();
});

test('the sources of one owner are found by the filter, which a link keeps', async () => {
  await headwater.deploy(SOURCE.replace('Orders', 'Made with the key'));
  const ada = await makeMember(headwater, 'ada.of.sources@example.com', 'developer');
  const { data: made } = await ada.api('POST', '/sources', { kind: 'ingest', name: 'Made by Ada' });
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/sources`, headwater.apiKey);
  const row = (name: string) => page.getByRole('table', { name: 'Sources' }).getByRole('row', { name });
  await row('Made with the key').waitFor();
  await page.getByRole('combobox', { name: 'Owner' }).selectOption(made.user_id);
  await row('Made with the key').waitFor({ state: 'detached' });
  await row('Made by Ada').waitFor();
  await page.reload();
  await row('Made by Ada').waitFor();
  expect(await row('Made with the key').count()).toBe(0);
  await page.getByRole('searchbox', { name: 'Search sources' }).fill('key');
  await page.getByText('No source of this owner matches “key”').waitFor();
  await expectAccessible(page);
  check();
});

test('a failed execution says why once, beside what leads to the step and its stack', async () => {
  const { data: workflow } = await headwater.api('POST', '/workflows', {
    name: 'Failing late',
    steps: [
      ...Array.from({ length: 30 }, (_, at) => ({
        namespace: `step${at}`,
        component_code: 'export default { run() {} }',
      })),
      { namespace: 'check', component_code: 'export default { run() { throw new Error("over the limit"); } }' },
    ],
  });
  const { data: run } = await headwater.api('POST', `/workflows/${workflow.id}/run`, { event: {} });
  const { page, check } = await browser.open({ viewport: { width: 1440, height: 500 } });
  await signIn(page, `${headwater.url}/executions/${run.execution_id}`, headwater.apiKey);
  const top = page.getByRole('alert');
  await top.getByText('over the limit').waitFor();
  expect(await top.getByLabel('Stack').count()).toBe(0);
  const step = page.getByRole('list', { name: 'Steps' }).getByRole('listitem').last();
  const stack = step.getByLabel('Stack');
  expect(await stack.innerText()).toContain('component.mjs');
  expect(await page.getByText('over the limit').count()).toBe(1);
  await top.getByRole('link', { name: 'Show the step' }).click();
  await expect.poll(() => step.evaluate('document.activeElement?.textContent')).toContain('check');
  await expect.poll(async () => (await stack.boundingBox())?.y).toBeLessThan(500);
  expect(page.url()).toContain('step=check');
  await expectAccessible(page);
  // An error that no step shows is whole at the top.
  await page.route('**/v1/executions/*', async (route) => {
    const { data } = await (await route.fetch()).json();
    await route.fulfill({ json: { data: { ...data, error: { ...data.error, namespace: null } } } });
  });
  await page.reload();
  await top.getByLabel('Stack').waitFor();
  check();
});

test('a failed execution leads to its step in the builder, and is replayed with the version that mends it', async () => {
  const code = (statement: string) => `export default { run() { ${statement} } }`;
  const { data: workflow } = await headwater.api('POST', '/workflows', {
    name: 'To mend',
    steps: [
      { namespace: 'first', component_code: code('return 1;') },
      { namespace: 'check', component_code: code('throw new Error("not yet");') },
    ],
  });
  const { data: run } = await headwater.api('POST', `/workflows/${workflow.id}/run`, { event: {} });
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/executions/${run.execution_id}`, headwater.apiKey);
  await page.getByRole('link', { name: 'Change this step' }).click();
  await page.getByRole('textbox', { name: 'Step name' }).waitFor();
  expect(page.url()).toContain(`/workflows/${workflow.id}?tab=build&step=check`);
  const [first, last] = workflow.steps;
  await headwater.api('PUT', `/workflows/${workflow.id}`, {
    steps: [
      { id: first.id, namespace: 'first' },
      { id: last.id, namespace: 'check', component_code: code('return 2;') },
    ],
  });
  await page.goto(`${headwater.url}/executions/${run.execution_id}`);
  await page.getByText('a replay runs with the current one').waitFor();
  await page.getByRole('button', { name: 'Replay from the failed step' }).click();
  await page.getByText('Replay of').waitFor();
  await page.getByText('succeeded', { exact: true }).first().waitFor();
  check();
});

test('a workflow is paused and gets its throttle back', async () => {
  const throttle = { limit: 5, interval_seconds: 30 };
  const { data: workflow } = await headwater.api('POST', '/workflows', {
    name: 'Intake',
    triggers: [{ type: 'http' }],
    steps: [{ namespace: 'answer', component_code: 'export default { run() { return 1; } };' }],
    settings: { throttle },
  });
  const settings = async () => (await headwater.api('GET', `/workflows/${workflow.id}`)).data.settings;
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/workflows/${workflow.id}`, headwater.apiKey);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('paused', { exact: true }).waitFor();
  expect((await settings()).throttle).toEqual({ limit: 0, interval_seconds: 30 });
  const { data: run } = await headwater.api('POST', `/workflows/${workflow.id}/run`, { event: {} });
  await page.getByRole('row', { name: /queued/ }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await page.getByText('paused', { exact: true }).waitFor({ state: 'detached' });
  expect((await settings()).throttle).toEqual(throttle);
  await expect
    .poll(async () => (await headwater.api('GET', `/executions/${run.execution_id}`)).data.status)
    .toBe('succeeded');
  check();
});

test('on a phone an event opens over the list, with a way back to its row', async () => {
  const { id } = await headwater.deploy(SOURCE);
  await headwater.api('POST', `/sources/${id}/run`, { event: { order: 7 } });
  await headwater.untilEvents(id, 1);
  const { page, check } = await browser.open({ viewport: { width: 390, height: 844 } });
  await signIn(page, `${headwater.url}/sources/${id}`, headwater.apiKey);
  const row = page.getByRole('row', { name: 'Order 7' });
  await row.press('Enter');
  const sheet = page.getByRole('dialog', { name: 'Event' });
  await sheet.getByRole('tree').getByText('7', { exact: true }).waitFor();
  expect((await sheet.boundingBox())?.width).toBe(390);
  expect(page.url()).toContain('event=');
  await sheet.getByRole('button', { name: 'Back' }).click();
  await sheet.waitFor({ state: 'detached' });
  expect(page.url()).not.toContain('event=');
  await expect.poll(() => row.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  // On a desk it lies beside the list.
  await page.setViewportSize({ width: 1440, height: 900 });
  await row.press('Enter');
  await page.getByRole('tree').getByText('7', { exact: true }).waitFor();
  expect(await sheet.count()).toBe(0);
  await page.getByRole('button', { name: 'Close' }).click();
  check();
});

test('failed executions of a workflow begin anew, many at once', async () => {
  const { data: workflow } = await headwater.api('POST', '/workflows', {
    name: 'Shaky',
    steps: [{ namespace: 'work', component_code: `export default { run() { throw new Error('not yet'); } };` }],
  });
  for (let at = 0; at < 2; at++) await headwater.api('POST', `/workflows/${workflow.id}/run`, { event: { at } });
  await headwater.untilIdle();
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/workflows/${workflow.id}?status=failed`, headwater.apiKey);
  await page.getByRole('button', { name: 'Replay failed…' }).click();
  await page.getByText('2 of this workflow have failed').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Replay them' }).click();
  await page.getByText('2 executions begin anew.').waitFor();
  await expect
    .poll(async () => (await headwater.api('GET', `/workflows/${workflow.id}/executions`)).data.length)
    .toBe(4);
  // Counted by time, of this workflow alone; the number leads to the rows behind it.
  await headwater.untilIdle();
  await page.getByRole('img', { name: 'Executions by time: 0 ok, 4 failed in the last hour' }).waitFor();
  await page.getByRole('button', { name: 'Day' }).click();
  await page.getByRole('img', { name: /0 ok, 4 failed in the last day/ }).waitFor();
  await page.getByRole('button', { name: 'Table of Executions by time' }).click();
  await page.getByRole('table', { name: 'Executions by time' }).getByRole('row', { name: /0 4$/ }).waitFor();
  await page.getByRole('link', { name: '0 ok' }).click();
  await page.getByText('No execution of this time is succeeded or exited').waitFor();
  await page.getByRole('link', { name: '4 failed' }).click();
  await page.getByRole('table', { name: 'Executions', exact: true }).getByRole('row').nth(4).waitFor();
  expect(page.url()).toMatch(/range=day.*status=failed|status=failed.*range=day/);
  check();
});

test('sends of an execution are on its page with their attempts, and a failed one is sent again', async () => {
  const receiver = await startReceiver();
  receiver.answer = () => ({ status: receiver.requests.length === 1 ? 400 : 200, body: 'no such shelf' });
  const code = `export default { run({ $ }) {
    $.send.http({ method: 'POST', url: '${receiver.url}/shelf', data: { order: 7 } }); } };`;
  const { data: workflow } = await headwater.api('POST', '/workflows', {
    name: 'Sending',
    steps: [{ namespace: 'send', component_code: code }],
  });
  const { data: run } = await headwater.api('POST', `/workflows/${workflow.id}/run`, { event: {} });
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/executions/${run.execution_id}`, headwater.apiKey);
  const send = page.getByRole('list', { name: 'Sends' }).getByRole('listitem').first();
  await send.getByText(`POST ${receiver.url}/shelf`).waitFor();
  await send.getByText('HTTP 400').waitFor();
  await send.getByText('no such shelf').waitFor();
  await expectAccessible(page);
  await picture(page, 'execution-sends');
  await send.getByRole('button', { name: 'Send again' }).click();
  await send.getByText('delivered').first().waitFor();
  expect(receiver.requests.map(({ body }) => body)).toEqual(['{"order":7}', '{"order":7}']);
  await receiver.stop();
  check();
});

test('runs that were given up are seen from the overview and their source, and run again', async () => {
  const { id } = await headwater.deploy(SOURCE.replace('Orders', 'Poisoned'));
  await headwater.sql`delete from abandoned_runs`;
  for (const order of [91, 92, 93]) {
    await headwater.sql`
      insert into abandoned_runs (id, account_id, source_id, kind, hops, event, error_message)
      values (${newId('invocation', Date.now() + order)}, ${headwater.accountId}, ${id}, 'http', 0, ${JSON.stringify({ order })}, 'It ended')`;
  }
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/`, headwater.apiKey);
  await page.getByText('3 runs were given up').waitFor();
  await page.goto(`${headwater.url}/sources/${id}?tab=runs`);
  await page.getByRole('link', { name: 'Look at them' }).click();
  const runs = page.getByRole('table', { name: 'Abandoned runs' });
  await runs
    .getByRole('row', { name: /Poisoned.*It ended/ })
    .first()
    .click();
  await page.getByRole('tree', { name: 'Event' }).getByText('93', { exact: true }).waitFor();
  await expectAccessible(page);
  await picture(page, 'abandoned-runs');
  await page.getByRole('button', { name: 'Run again', exact: true }).click();
  expect((await headwater.untilEvents(id, 1)).map(({ event }) => event.order)).toEqual([93]);
  await page.getByRole('button', { name: 'Run all again…' }).click();
  await page
    .getByRole('dialog', { name: 'Run 2 runs again?' })
    .getByRole('button', { name: 'Run 2 runs again' })
    .click();
  await page.getByText('2 runs are queued again.').waitFor();
  await page.getByText('No abandoned runs').waitFor();
  expect((await headwater.untilEvents(id, 3)).map(({ event }) => event.order)).toEqual([93, 91, 92]);
  check();
});

test('a replay is seen in the list of replays, with how far it has come', async () => {
  const { id } = await headwater.deploy(SOURCE.replace('Orders', 'Past orders'));
  await headwater.api('POST', `/sources/${id}/run`, { event: { order: 1 } });
  await headwater.untilEvents(id, 1);
  const { data: receiver } = await headwater.api('GET', '/sample_receiver');
  const { data: webhook } = await headwater.api('POST', '/webhooks', { url: receiver.url, name: 'Late' });
  await headwater.api('POST', '/replays', { emitter_id: id, listener_id: webhook.id });
  // Nodes add what they have counted every few seconds.
  const share = async () => (await headwater.api('GET', `/webhooks/${webhook.id}/stats`)).data.success_share;
  await expect.poll(share, { timeout: 60_000 }).toBe(1);
  const { page, check } = await browser.open();
  await signIn(page, `${headwater.url}/webhooks`, headwater.apiKey);
  await page.getByRole('link', { name: 'Replays' }).click();
  await page.getByRole('row', { name: /done.*Past orders.*Late.*1 of 1/ }).waitFor();
  await expectAccessible(page);
  // Its outcome: in the list of webhooks, of the last day.
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('row', { name: /Late.*100\.0 %.*\d m?s/ }).waitFor();
  await page.goto(`${headwater.url}/events?emitter=${id}`);
  await page.getByRole('table', { name: 'Events' }).getByRole('row').first().click();
  await page.getByRole('list', { name: 'Deliveries of this event' }).getByText('1 attempt of a replay').waitFor();
  check();
});

test('on a phone nothing of a workflow, a trace or a delivery is cut off', async () => {
  const source = await headwater.deploy(SOURCE);
  const { data: workflow } = await headwater.api('POST', '/workflows', {
    name: 'Intake',
    triggers: [{ type: 'http' }, { source_id: source.id }],
    steps: [{ namespace: 'answer', component_code: 'export default { run() { return 1; } };' }],
  });
  const { data: receiver } = await headwater.api('GET', '/sample_receiver');
  const { data: webhook } = await headwater.api('POST', '/webhooks', { url: receiver.url, name: 'Sample' });
  await headwater.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  await headwater.api('POST', `/sources/${source.id}/run`, { event: { order: 1 } });
  const [event] = await headwater.untilEvents(source.id, 1);
  await headwater.untilIdle();
  const { data: deliveries } = await headwater.api('GET', `/webhooks/${webhook.id}/deliveries`);
  const { page, check } = await browser.open({ viewport: { width: 390, height: 844 } });
  await signIn(page, `${headwater.url}/workflows/${workflow.id}`, headwater.apiKey);
  const inView = async (name: RegExp) => {
    const box = await page.getByRole('button', { name }).first().boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
  };
  await page.getByRole('link', { name: 'events of Orders' }).waitFor();
  await inView(/^Copy trigger/);
  await picture(page, 'workflow-phone');
  await page.goto(`${headwater.url}/deliveries/${deliveries[0].id}`);
  await inView(/^Skip$|^Copy as command$/);
  expect(await page.getByRole('button', { name: /^Close$/ }).count()).toBe(0);
  await page.goto(`${headwater.url}/traces/${source.id}-${event?.id}`);
  await page.getByRole('row', { name: /Sample/ }).waitFor();
  const width =
    '(() => { const t = document.querySelector("[aria-label=Trace]"); return t.scrollWidth - t.clientWidth; })()';
  expect(await page.evaluate(width)).toBe(0);
  await picture(page, 'trace-phone');
  await expectAccessible(page);
  check();
});
