import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CliUser, createCliUser, type RunningCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { type PackageRegistry, startPackageRegistry } from '../support/package-registry.ts';

let registry: PackageRegistry;
let hw: Headwater;
let user: CliUser;
const running: RunningCli[] = [];

beforeAll(async () => {
  registry = await startPackageRegistry();
  hw = await startHeadwater({ npmRegistry: registry.url });
});
afterAll(async () => {
  await hw?.stop();
  await registry?.stop();
});
beforeEach(async () => {
  user = await createCliUser({ HEADWATER_URL: hw.url, HEADWATER_API_KEY: hw.apiKey });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((cli) => cli.end()));
  await user.remove();
});

async function write(name: string, text: string): Promise<void> {
  const file = path.join(user.workDir, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

function dev(...args: string[]): RunningCli {
  const cli = user.start(['dev', ...args]);
  running.push(cli);
  return cli;
}

/** Emits the given expression; `imports` stand before it. */
const emits = (what: string, imports = '') => `${imports}
export default { name: "Greeter", version: "0.0.1", props: { http: "$.interface.http" },
  run() { console.log("ran"); this.$emit({ said: ${what} }); } };`;

async function deployed(cli: RunningCli): Promise<{ id: string; endpoint: string }> {
  const [, id = '', endpoint = ''] = await cli.untilOutput(/Deployed \S+ \((dc_\w{20})\)\nEndpoint: (\S+)\n/);
  return { id, endpoint };
}

const post = async (endpoint: string) => expect((await fetch(endpoint, { method: 'POST' })).status).toBe(200);

/** A second on a machine that does nothing else. */
const SOON_MS = 45_000;

/** Posts until the source emits it; answers how long that took. */
async function untilItSays(cli: RunningCli, endpoint: string, what: string): Promise<number> {
  const beganMs = Date.now();
  await eventually(async () => {
    await post(endpoint);
    return cli.stdout().includes(`{"said":"${what}"}`);
  });
  return Date.now() - beganMs;
}

describe('hw dev', () => {
  test('deploys, prints the endpoint, and shows events and log lines as they come', async () => {
    await write('greeter.mjs', emits('"hello"'));
    const cli = dev('greeter.mjs');
    const { endpoint } = await deployed(cli);
    await post(endpoint);
    await cli.untilOutput(/^\d{4}-.*\{"said":"hello"\}$/m);
    await cli.untilOutput(/^\d\d:\d\d:\d\d\S* info {2}ran$/m);
    expect(cli.stderr()).toBe('');
  });

  test('deploys what is saved again within a second, also where an editor puts a new file in the place of the old one', async () => {
    await write('greeter.mjs', emits('"one"'));
    const cli = dev('greeter.mjs');
    const { id, endpoint } = await deployed(cli);
    await write('greeter.mjs', emits('"two"'));
    expect(await untilItSays(cli, endpoint, 'two')).toBeLessThan(SOON_MS);
    await write('.greeter.mjs.tmp', emits('"three"'));
    await rename(path.join(user.workDir, '.greeter.mjs.tmp'), path.join(user.workDir, 'greeter.mjs'));
    expect(await untilItSays(cli, endpoint, 'three')).toBeLessThan(SOON_MS);
    expect(cli.stdout()).toContain('Deployed again');
    expect((await user.json('list')).filter((source: { id: string }) => source.id === id)).toHaveLength(1);
  });

  test('deploys again when an imported file is saved, in any folder, and through other files', async () => {
    await write('lib/deep/word.mjs', 'export const word = "first";\n');
    await write('lib/part.ts', 'export { word } from "./deep/word.mjs";\n');
    await write('sources/main.ts', emits('word', 'import { word } from "../lib/part";'));
    const cli = dev('sources/main.ts');
    const { endpoint } = await deployed(cli);
    await untilItSays(cli, endpoint, 'first');
    await write('lib/deep/word.mjs', 'export const word = "second";\n');
    expect(await untilItSays(cli, endpoint, 'second')).toBeLessThan(SOON_MS);
  });

  test('deploys again when package.json asks for another version of a package', async () => {
    const dependsOn = (version: string) => write('package.json', JSON.stringify({ dependencies: { about: version } }));
    registry.add({ name: 'about', version: '3.0.0' }, { name: 'about', version: '3.0.1' });
    await dependsOn('3.0.0');
    await write('main.mjs', emits('about.version', 'import about from "about/package.json";'));
    const cli = dev('main.mjs');
    const { endpoint } = await deployed(cli);
    await untilItSays(cli, endpoint, '3.0.0');
    await dependsOn('3.0.1');
    expect(await untilItSays(cli, endpoint, '3.0.1')).toBeLessThan(SOON_MS);
  });

  test('shows what is wrong with a save while the last good version goes on, and takes the next one', async () => {
    await write('part.mjs', 'export const word = "good";\n');
    await write('main.mjs', emits('word', 'import { word } from "./part.mjs";'));
    const cli = dev('main.mjs');
    const { endpoint } = await deployed(cli);
    await write('part.mjs', 'export const word = ;\n');
    await cli.untilOutput(/part\.mjs:1:21: Unexpected ";"\n.*export const word = ;/);
    await cli.untilOutput(/The version before goes on running/);
    await untilItSays(cli, endpoint, 'good');
    await write('main.mjs', emits('word', 'import { word } from "./new/gone.mjs";'));
    await cli.untilOutput(/main\.mjs:1:22: Could not resolve "\.\/new\/gone\.mjs"/);
    await write('new/gone.mjs', 'export const word = "there";\n');
    await untilItSays(cli, endpoint, 'there');
    await write('main.mjs', emits('1', 'throw new Error("at load");'));
    await cli.untilOutput(/at load/);
    await write('main.mjs', emits('"mended"'));
    expect(await untilItSays(cli, endpoint, 'mended')).toBeLessThan(SOON_MS);
  });

  test('sees a folder that is put in the place of another, and each save in it from then on', async () => {
    await write('lib/deep/word.mjs', 'export const word = "first";\n');
    await write('main.mjs', emits('word', 'import { word } from "./lib/deep/word.mjs";'));
    const cli = dev('main.mjs');
    const { endpoint } = await deployed(cli);
    await untilItSays(cli, endpoint, 'first');
    await write('other/deep/word.mjs', 'export const word = "second";\n');
    await rename(path.join(user.workDir, 'lib'), path.join(user.workDir, 'before'));
    await rename(path.join(user.workDir, 'other'), path.join(user.workDir, 'lib'));
    expect(await untilItSays(cli, endpoint, 'second')).toBeLessThan(SOON_MS);
    await write('lib/deep/word.mjs', 'export const word = "third";\n');
    expect(await untilItSays(cli, endpoint, 'third')).toBeLessThan(SOON_MS);
  });

  test('says that a broken save which is taken back is what runs, and with --json so too', async () => {
    await write('main.mjs', emits('"good"'));
    for (const [args, pattern] of [
      [[], /Mended: what is saved is what runs/],
      [['--json'], /\{"broken".*\n\{"deployed"/],
    ] as const) {
      const cli = dev('main.mjs', ...args);
      await cli.untilOutput(/[Dd]eployed/);
      await write('main.mjs', 'export default {');
      await cli.untilOutput(/cannot be put together/);
      await write('main.mjs', emits('"good"'));
      expect(await cli.untilOutput(pattern)).toHaveLength(1);
      await cli.end();
    }
  });

  test('names the file in errors of runs and in code that the server refuses, as it is called here', async () => {
    await write('named.mjs', emits('nothingThere'));
    const cli = dev('named.mjs');
    const { endpoint } = await deployed(cli);
    await post(endpoint);
    await cli.untilOutput(/nothingThere is not defined\n +at .*named\.mjs:3:\d+/);
    await write('named.mjs', emits('1', 'throw new Error("at load");'));
    expect(await cli.untilOutput(/named\.mjs:1:\d+: .*at load/)).toHaveLength(1);
  });

  test('begun with a file that is broken, it waits until the file that is at fault is mended', async () => {
    await write('lib/part.mjs', 'export const word = ;\n');
    await write('main.mjs', emits('word', 'import { word } from "./lib/part.mjs";'));
    const cli = dev('main.mjs');
    await cli.untilOutput(/Waiting for a save/);
    await write('lib/part.mjs', 'export const word = "mended";\n');
    const { endpoint } = await deployed(cli);
    expect(await untilItSays(cli, endpoint, 'mended')).toBeLessThan(SOON_MS);
  });

  test('Ctrl-C leaves the source deployed and says how to go on with it, under the same id and endpoint', async () => {
    await write('greeter.mjs', emits('"one"'));
    const cli = dev('greeter.mjs', '--name', 'Kept');
    const { id, endpoint } = await deployed(cli);
    const ended = await cli.end();
    expect(ended.code).toBe(130);
    expect(ended.stderr).toContain(`hw dev greeter.mjs --dc ${id}\n`);
    expect(await user.json('describe', id)).toMatchObject({ active: true, name: 'Kept' });
    await write('greeter.mjs', emits('"again"'));
    const again = dev('greeter.mjs', '--dc', 'kept');
    expect(await deployed(again)).toEqual({ id, endpoint });
    await untilItSays(again, endpoint, 'again');
    expect(await user.json('describe', id)).toMatchObject({ name: 'Kept' });
  });

  test('with --json writes one record a line, each under what it is', async () => {
    await write('greeter.mjs', emits('"one"'));
    const cli = dev('greeter.mjs', '--json');
    const records = () =>
      cli
        .stdout()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, { configured_props: { http: { endpoint_url: string } } }>);
    const first = await eventually(() => records()[0]?.['deployed']);
    await post(first.configured_props.http.endpoint_url);
    await write('greeter.mjs', 'broken(');
    await eventually(() => {
      const kinds = records().map((record) => Object.keys(record)[0]);
      return kinds.includes('event') && kinds.includes('log') && kinds.includes('broken');
    });
    expect((await cli.end()).stderr).toBe('');
  });

  test('ends at once if no save would help: a prop without a value or a prompt, an unknown source', async () => {
    await write(
      'needs.mjs',
      `export default { name: "Needs", version: "1", props: { city: { type: "string" } }, run() {} };`,
    );
    expect(await user.hw(['dev', 'needs.mjs'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/needs a value for the prop city\n.*--prop city=<city>/),
    });
    expect((await user.hw(['dev', 'needs.mjs', '--dc', 'no-such'])).code).toBe(4);
    expect((await user.hw(['dev', 'gone.mjs'])).code).toBe(2);
  });
});

/** An action that shows what it got. */
const act = (body: string) => `export default { name: "Act", version: "1", type: "action",
  props: { text: "string", more: { type: "string", optional: true } },
  async run({ $, steps }) { ${body} } };`;

describe('hw dev of an action', () => {
  test("runs the action with a file's event at each save and shows exports, logs, $summary and errors", async () => {
    await write('order.json', '{"word":"hello"}');
    await write('act.mjs', act('console.log("got", this.text); $.export("$summary", "Did it"); return this.text + 1;'));
    const cli = dev('act.mjs', '--event', 'order.json', '--prop', 'text={{steps.trigger.event.word}}');
    await cli.untilOutput(
      /got text = "hello"\n {2}log got hello\n {2}\$return_value = "hello1"\n {2}\$summary = "Did it"/,
    );
    await write('act.mjs', act('throw new Error("ouch");'));
    await cli.untilOutput(/failed[\s\S]*COMPONENT_ERROR: ouch\n +at .*act\.mjs:3:/);
    await write('act.mjs', act('return ('));
    await cli.untilOutput(/act\.mjs:[\s\S]*Waiting for a save/);
    await write('act.mjs', act('return steps.trigger.event.word + 2;'));
    await cli.untilOutput(/\$return_value = "hello2"/);
    expect(await cli.end()).toMatchObject({ code: 130, stderr: expect.not.stringContaining('stays deployed') });
    expect(await user.json('list')).not.toContainEqual(expect.objectContaining({ name: 'Act' }));
  });

  test('runs the action with a stored event: by id, or the newest of a source', async () => {
    await write('greeter.mjs', emits('event.body', '').replace('run()', 'run(event)'));
    const source = await user.json('deploy', 'greeter.mjs', '--name', 'Recorded');
    const { endpoint_url: endpoint } = source.configured_props.http;
    const stored = async () => (await user.hw(['events', source.id, '--json'])).stdout.split('\n').filter(Boolean);
    await fetch(endpoint, { method: 'POST', body: 'first' });
    const [first = ''] = await eventually(async () => ((await stored()).length === 1 ? stored() : undefined));
    await fetch(endpoint, { method: 'POST', body: 'second' });
    await eventually(async () => (await stored()).length === 2);
    await write('act.mjs', act('return this.text;'));
    const prop = ['--prop', 'text={{steps.trigger.event.said}}'];
    const newest = dev('act.mjs', ...prop, '--newest', 'recorded');
    expect(await newest.untilOutput(/\$return_value = "second"/)).toHaveLength(1);
    const { emit_id: id } = (JSON.parse(first) as { metadata: { emit_id: string } }).metadata;
    await dev('act.mjs', ...prop, '--event-id', id).untilOutput(/\$return_value = "first"/);
  });

  test('runs the action as a step of a past execution, with its props and earlier results', async () => {
    await write('one.mjs', act('return steps.trigger.event.word;'));
    await write('two.mjs', act('return this.text;'));
    const file = {
      name: 'Dev steps',
      steps: [
        { namespace: 'one', component_file: 'one.mjs', props: { text: 'x' } },
        { namespace: 'two', component_file: 'two.mjs', props: { text: '{{steps.one.$return_value}}', more: 'kept' } },
      ],
    };
    await write('flow.json', JSON.stringify(file));
    const workflow = await user.json('workflows', 'create', 'flow.json');
    await write('event.json', '{"word":"past"}');
    const { execution_id: id } = await user.json('run', workflow.id, '--event', 'event.json');
    await eventually(async () => (await user.json('describe', id)).status === 'succeeded');
    await write('two.mjs', act('return this.text + " changed " + this.more;'));
    await dev('two.mjs', '--event-id', id, '--step', 'two').untilOutput(/\$return_value = "past changed kept"/);
    await dev('two.mjs', '--newest', workflow.id, '--step', 'two', '--prop', 'more=new').untilOutput(
      /"past changed new"/,
    );
    expect(await user.hw(['dev', 'two.mjs', '--event-id', id])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/one of several steps\n.*--step: one, two/),
    });
  });

  test('--json writes one record a run; options that contradict each other are refused', async () => {
    await write('act.mjs', act('return 1;'));
    const cli = dev('act.mjs', '--json', '--prop', 'text=a');
    await cli.untilOutput(/\{"tested":\{.*"status":"succeeded"/);
    await write('act.mjs', 'export default {');
    await cli.untilOutput(/\{"broken":/);
    await write('act.mjs', act('return 2;'));
    await cli.untilOutput(/"\$return_value":2/);
    await write('greeter.mjs', emits('1'));
    expect(await user.hw(['dev', 'act.mjs'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--prop text=<text>'),
    });
    const twice = await user.hw(['dev', 'act.mjs', '--event', 'a.json', '--newest', 'b']);
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining('exclude each other') });
    expect(await user.hw(['dev', 'greeter.mjs', '--newest', 'b'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is a source\n.*hw run/),
    });
    expect((await user.hw(['dev', 'act.mjs', '--prop', 'text=a', '--newest', 'no-such'])).code).toBe(4);
  });
});

describe('hw dev of a workflow', () => {
  test("runs the steps of a folder's workflow file, and again when the code of a step is saved", async () => {
    await user.hw(['init', 'workflow', 'flows/intake']);
    await write('event.json', '{"body":{"text":"first"}}');
    const cli = dev('flows', '--event', 'event.json');
    await cli.untilOutput(/shout {2}done[\s\S]*\$return_value = \{"text":"FIRST"\}/);
    await write('flows/intake.step.mjs', 'export default { type: "action",');
    await cli.untilOutput(/Waiting for a save/);
    await write('flows/intake.step.mjs', act('return "second";'));
    await cli.untilOutput(/\$return_value = "second"/);
    expect(await cli.end()).toMatchObject({ code: 130 });
    expect(await user.json('workflows', 'list')).not.toContainEqual(expect.objectContaining({ name: 'Intake' }));
  });

  test('a folder with no workflow, several, or a stack gets an error that names the next step', async () => {
    const told = async (folder: string) => (await user.hw(['dev', folder])).stderr;
    await write('none/a.json', '{}');
    expect(await told('none')).toMatch(/none is a folder\n.*Name the file of the component/);
    await write('two/a.json', '{"steps":[]}');
    await write('two/b.json', '{"steps":[]}');
    expect(await told('two')).toMatch(/several workflows\n.*two\/a\.json, two\/b\.json/);
    await write('stack/headwater.yaml', 'name: a');
    expect(await told('stack')).toMatch(/hw apply stack --plan/);
    expect((await user.hw(['dev', 'two/a.json', '--dc', 'x'])).stderr).toContain('--dc does not go with a workflow');
  });
});

test('from an empty folder to live events of a source that is worked on', async () => {
  const beganMs = Date.now();
  await user.hw(['init', 'source', 'first', '--http']);
  const cli = dev('first.mjs');
  const { endpoint } = await deployed(cli);
  await fetch(endpoint, { method: 'POST', body: 'hello' });
  await cli.untilOutput(/"body":"hello"/);
  expect(Date.now() - beganMs).toBeLessThan(120_000);
});
