import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

const SECRET = 'opensesame-4711';

let headwater: Headwater;
beforeAll(async () => {
  headwater = await sharedHeadwater();
});
afterAll(() => headwater.stop());

it('an environment variable is there for the step that names it, and in nothing that is stored', async () => {
  const { accountId, sql } = headwater;
  expect(await headwater.api('PUT', '/environment_variables/DOOR', { value: SECRET })).toMatchObject({ status: 200 });
  const receiver = await startReceiver();
  const leak = `
    const all = { key: this.key, [this.key]: 1 };
    $.export("all", all); console.log("logged", this.key); $.send.emit(all);
    $.send.http({ method: "POST", url: "${receiver.url}/hook", data: all });
    $.flow.exit(this.key);
    if (steps.trigger.event.body.fail) throw new Error("with " + this.key);
    return all;`;
  const { id, endpointKey } = await insertWorkflow(sql, {
    accountId,
    steps: [{ namespace: 'leak', code: action(leak), props: { key: '{{env.DOOR}}' }, env: ['DOOR'] }],
  });
  await post(`${headwater.url}/e/${endpointKey}`, { fail: false });
  await untilExecutions(sql, id, 1);
  await post(`${headwater.url}/e/${endpointKey}`, { fail: true });
  const [ended, failed] = await untilExecutions(sql, id, 2);
  expect(ended).toMatchObject({ status: 'exited', reason: '[secret:env.DOOR]' });
  expect(ended?.steps[0]?.value).toEqual({ key: '[secret:env.DOOR]', '[secret:env.DOOR]': 1 });
  expect(failed).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('with [secret:env.DOOR]') },
  });
  // The receiver gets the real values.
  const [request] = await receiver.until(1);
  expect(JSON.parse(request?.body ?? '')).toEqual({ key: SECRET, [SECRET]: 1 });
  for (const table of ['executions', 'execution_steps', 'events', 'sends', 'deployments', 'environment_variables']) {
    const rows = await sql`select t::text as row from ${sql(table)} t`;
    expect(rows.length).toBeGreaterThan(0);
    expect([table, JSON.stringify(rows).includes(SECRET)]).toEqual([table, false]);
  }
  await receiver.stop();
});

it('the context of a rerun is sealed while it waits, and open for the next run', async () => {
  const { accountId, sql } = headwater;
  expect(await headwater.api('PUT', '/environment_variables/DOOR', { value: SECRET })).toMatchObject({ status: 200 });
  const again = `
    const { runs, context } = $.context.run;
    if (runs === 1) $.export("links", $.flow.rerun(3_600_000, { cursor: this.key }));
    return context?.cursor === this.key;`;
  const { id, endpointKey } = await insertWorkflow(sql, {
    accountId,
    steps: [{ namespace: 'again', code: action(again), props: { key: '{{env.DOOR}}' }, env: ['DOOR'] }],
  });
  await post(`${headwater.url}/e/${endpointKey}`, {});
  const wait = await eventually(async () => {
    const [row] = await sql<{ context: string; exports: string }[]>`
      select w.context, s.exports from execution_waits w join execution_steps s using (execution_id, position) where workflow_id = ${id}`;
    return row;
  });
  expect(wait.context).toMatch(/^v2\./);
  const { links } = JSON.parse(wait.exports) as { links: { resume_url: string } };
  await post(new URL(new URL(links.resume_url).pathname, headwater.url).href, {});
  const [execution] = await untilExecutions(sql, id, 1);
  expect(execution).toMatchObject({ status: 'succeeded', steps: [{ value: true, runs: 2 }] });
});
