import { expect, test } from 'vitest';
import { cliWorld } from '../support/cli-world.ts';
import { makeWorkflow } from '../support/workflow-steps.ts';

const world = cliWorld();

const ECHO = `export default { name: 'Echo', version: '1', type: 'action', props: { text: 'string' },
  run() { console.log('here'); return this.text; } };`;
const echo = (namespace: string, text: string) => ({ namespace, component_code: ECHO, props: { text } });

test('workflows test runs steps with an event, also those of a file, and shows what each got and came to', async () => {
  const workflow = await makeWorkflow(world.hw, {
    name: 'Tried',
    steps: [echo('one', '{{steps.trigger.event.word}}'), echo('two', '{{steps.one.$return_value}}!')],
  });
  await world.write('event.json', '{"word":"hello"}');
  const all = await world.user.hw(['workflows', 'test', workflow.name_slug, '--event', 'event.json']);
  expect(all).toMatchObject({ code: 0 });
  for (const part of ['got text = "hello!"', '$return_value = "hello!"', 'log here', 'succeeded'])
    expect(all.stdout).toContain(part);
  const upTo = await world.user.json('workflows', 'test', workflow.id, '--event', 'event.json', '--up-to', 'one');
  expect(upTo.steps).toHaveLength(1);
  await world.write('steps.json', JSON.stringify({ steps: [echo('alone', 'from a file')] }));
  const file = await world.user.json('workflows', 'test', workflow.id, '--file', 'steps.json');
  expect(file.steps[0]).toMatchObject({ namespace: 'alone', $return_value: 'from a file' });
});

test('workflows test --watch runs the steps again when their code is saved, and tells of a save that is broken', async () => {
  const workflow = await makeWorkflow(world.hw, { steps: [echo('one', 'saved')] });
  const code = (said: string) =>
    `export default { name: 'Say', version: '1', type: 'action', run() { return '${said}'; } };`;
  await world.write('say.mjs', code('first'));
  await world.write('flow.json', JSON.stringify({ steps: [{ namespace: 'say', component_file: 'say.mjs' }] }));
  const cli = world.user.start(['workflows', 'test', workflow.id, '--file', 'flow.json', '--watch']);
  await cli.untilOutput(/\$return_value = "first"/);
  await world.write('say.mjs', 'export default {');
  await cli.untilOutput(/Waiting for a save/);
  await world.write('say.mjs', code('second'));
  await cli.untilOutput(/\$return_value = "second"/);
  expect(await cli.end()).toMatchObject({ code: 130 });
});

test('workflows resume goes on with an execution that waits, and describe shows what its steps got', async () => {
  const workflow = await makeWorkflow(world.hw, {
    steps: [
      { namespace: 'ask', component_code: `export default { run({ $ }) { $.flow.suspend(3600000); } };` },
      echo('after', '{{steps.ask.$resume_data.by}}'),
    ],
  });
  const { execution_id: id } = await world.user.json('workflows', 'run', workflow.id);
  const described = () => world.user.json('describe', id);
  await expect.poll(async () => (await described()).status).toBe('waiting');
  await world.write('data.json', '{"by":"Ada"}');
  expect(await world.user.json('workflows', 'resume', id, '--data', 'data.json')).toEqual({ id, resumed: true });
  await expect.poll(async () => (await described()).status).toBe('succeeded');
  expect((await world.user.hw(['describe', id])).stdout).toContain('text = "Ada"');
  expect((await world.user.hw(['trace', id, '--logs'])).stdout).toContain('got text = "Ada"');
  const again = await world.user.hw(['workflows', 'resume', id]);
  expect(again.code).not.toBe(0);
  expect(again.stderr).toContain('does not wait');
});

test('workflows replay runs one execution again, and cancel ends one that waits', async () => {
  const workflow = await makeWorkflow(world.hw, {
    steps: [{ namespace: 'ask', component_code: `export default { run({ $ }) { $.flow.suspend(3600000); } };` }],
  });
  const { execution_id: id } = await world.user.json('workflows', 'run', workflow.id);
  const statusOf = async (execution: string) => (await world.user.json('describe', execution)).status;
  await expect.poll(() => statusOf(id)).toBe('waiting');
  expect(await world.user.json('workflows', 'cancel', id)).toEqual({ id, cancelled: true });
  expect(await statusOf(id)).toBe('cancelled');
  const { execution_id: second } = await world.user.json('workflows', 'replay', id, '--newest');
  await expect.poll(() => statusOf(second)).toBe('waiting');
  expect((await world.user.json('describe', second)).replay_of).toBe(id);
});
