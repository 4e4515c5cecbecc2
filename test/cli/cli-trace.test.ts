import { beforeAll, describe, expect, test } from 'vitest';
import { durationText } from '../../cli/src/traces/trace-tree.ts';
import { cliWorld, ORDERS_SOURCE } from '../support/cli-world.ts';
import { eventually } from '../support/eventually.ts';
import { action, untilExecutions } from '../support/executions.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeWorkflow } from '../support/workflow-steps.ts';

const world = cliWorld();
let traceId = '';
let executionId = '';
let emitId = '';
let webhookId = '';
/** However long a step takes on a busy machine. */
const TOOK = String.raw`\d+(?:\.\d)? (?:ms|s|min \d+ s)`;

/**
 * A request to a source, heard by a webhook, a workflow of which a step fails, and another one that
 * is stopped.
 */
beforeAll(async () => {
  const { hw } = world;
  await hw.limit({ maxLogLineBytes: 256 });
  const receiver = await startReceiver();
  const source = await hw.deploy(ORDERS_SOURCE);
  const steps = [
    {
      namespace: 'look',
      component_code: action(
        'console.log("looking\\u001b[2J"); console.log("y".repeat(300)); $.send.emit({ seen: 1 });',
      ),
    },
    { namespace: 'check', component_code: action('throw new TypeError("no such\\norder");'), on_error: 'continue' },
    { namespace: 'book', component_code: action('throw new Error("full");') },
  ];
  const flow = await makeWorkflow(hw, { name: 'Book orders', steps });
  const stopped = await makeWorkflow(hw, { name: 'Stopped', steps: [] });
  const { data: webhook } = await hw.api('POST', '/webhooks', { url: receiver.url, name: 'Shop' });
  webhookId = webhook.id;
  for (const id of [flow.id, stopped.id, webhookId])
    await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: id });
  await hw.api('PUT', `/workflows/${stopped.id}`, { active: false });
  await fetch(source.endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"n":1}' });
  const [execution] = await untilExecutions(hw.sql, flow.id as string, 1);
  executionId = execution?.id ?? '';
  traceId = execution?.context['trace_id'] as string;
  emitId = execution?.context['emitter_id'] as string;
  const [event] = await hw.untilEvents(source.id, 1);
  emitId = `${source.id}-${event?.id}`;
  await eventually(async () => {
    const { data } = await hw.api('GET', `/traces/${traceId}`);
    return JSON.stringify(data).includes('"delivered"');
  });
  await receiver.stop();
});

describe('hw trace', () => {
  test('explains what hw run has started, also where nothing came of it', async () => {
    const code = "export default { name: 'Silent', version: '1', run() {} };";
    await world.hw.api('POST', '/sources', { component_code: code, name: 'silent' });
    const started = await world.user.hw(['run', 'silent']);
    const [, id = ''] = /^See what comes of it: hw trace (inv_\w+)$/m.exec(started.stdout) ?? [];
    await world.hw.untilIdle();
    const { code: exit, stdout } = await world.user.hw(['trace', id]);
    expect([exit, stdout.trimEnd().split('\n')]).toEqual([
      0,
      [expect.stringMatching(/^silent {2}inv_\w+ of dc_\w+ {2}manual {2}ok {2}at /), '└─ ran, emitted nothing'],
    ]);
  });

  test('shows the tree with times, errors and reasons, by execution, trace or event', async () => {
    const { code, stdout, stderr } = await world.user.hw(['trace', executionId]);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(
      new RegExp(
        `^Orders  ${traceId} of dc_\\w+  http  ok  at \\d\\d:\\d\\d:\\d\\d\\.\\d{3}  waited ${TOOK}, ran ${TOOK}$`,
      ),
    );
    expect(lines[1]).toBe(`└─ event  An order  ${emitId}`);
    const text = lines.slice(2).join('\n');
    expect(text).toMatch(new RegExp(`^   [├└]─ to Shop ${webhookId}: delivered \\(200 after ${TOOK}\\)$`, 'm'));
    expect(text).toMatch(/^ {3}[├└]─ not to Stopped p_\w+: it was stopped$/m);
    expect(text).toMatch(new RegExp(`^   [├└]─ Book orders  ${executionId}  event  failed  at .*, ran ${TOOK}$`, 'm'));
    expect(text).toMatch(new RegExp(`^ {3}[│ ] {2}├─ step look {2}done {2}${TOOK}$`, 'm'));
    expect(text).toMatch(new RegExp(`^ {3}[│ ] {2}├─ step check {2}continued {2}${TOOK}$`, 'm'));
    expect(text).toMatch(/^ {3}[│ ] {2}│ {2}└─ COMPONENT_ERROR: .*no such order/m);
    expect(text).toMatch(new RegExp(`^ {3}[│ ] {2}├─ step book {2}failed {2}${TOOK}$`, 'm'));
    expect(text).toMatch(/^ {3}[│ ] {2}[├└]─ event on \$errors /m);
    expect(text).not.toContain('looking');
    for (const id of [traceId, emitId]) expect(await world.user.hw(['trace', id])).toMatchObject({ code: 0, stdout });
  });

  test('and hw describe show why an execution exited, and the summaries of its steps', async () => {
    const code = action("$.export('$summary', 'Looked at 3 orders'); $.flow.exit('nothing new');");
    const flow = await makeWorkflow(world.hw, { name: 'Exits', steps: [{ namespace: 'look', component_code: code }] });
    const { execution_id: id } = await world.user.json('run', 'exits');
    await untilExecutions(world.hw.sql, flow.id as string, 1);
    const traced = await world.user.hw(['trace', id]);
    expect(traced.stdout).toMatch(/^├─ exited in step look: nothing new$/m);
    expect(traced.stdout).toMatch(/^ {3}└─ Looked at 3 orders$/m);
    const { stdout } = await world.user.hw(['describe', id]);
    expect(stdout).toMatch(/^reason\s+nothing new$/m);
    expect(stdout).toMatch(/look {2}done {2}Looked at 3 orders/);
  });

  test('has log lines where they are asked for, and nothing that steers a terminal', async () => {
    const { stdout } = await world.user.hw(['trace', traceId, '--logs']);
    expect(stdout).toMatch(/├─ info: looking\\x1b\[2J$/m);
    expect(stdout).toMatch(/└─ info: y+… \(cut\) \[maxLogLineBytes: 300 of 256\]$/m);
    expect(stdout).toMatch(/info: got/);
    expect(stdout).not.toContain('\u001B');
  });

  test('hw logs shows as well which limit cut a line', async () => {
    const line = /info {2}look y+… \(cut\) \[maxLogLineBytes: 300 of 256\]$/m;
    await expect.poll(async () => (await world.user.hw(['logs', 'Book orders'])).stdout).toMatch(line);
  });

  test('with --json it is what the server answers', async () => {
    const { data } = await world.hw.api('GET', `/traces/${traceId}`);
    expect(await world.user.json('trace', traceId)).toEqual(data);
  });

  test('reports an unknown id with its exit code', async () => {
    for (const id of ['exec_none', 'dc_x/../y', '?']) {
      const { code, stdout, stderr } = await world.user.hw(['trace', id]);
      expect([id, code, stdout]).toEqual([id, 4, '']);
      expect(stderr).toContain(id);
    }
    expect((await world.user.hw(['trace'])).code).toBe(2);
  });
});

test.each([
  [0.4, '0 ms'],
  [999, '999 ms'],
  [1_250, '1.3 s'],
  [200_000, '3 min 20 s'],
  [239_600, '4 min 0 s'],
  [7_260_000, '2 h 1 min'],
  [3 * 86_400_000 + 3_600_000, '3 d 1 h'],
])('%d ms are shown as %s', (ms, text) => expect(durationText(ms)).toBe(text));
