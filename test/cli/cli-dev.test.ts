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

  test('ends at once if no save would help: an action, a prop without a value or a prompt, an unknown source', async () => {
    await write('act.mjs', 'export default { name: "Act", version: "1", type: "action", key: "act", run() {} };');
    expect(await user.hw(['dev', 'act.mjs'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is an action.*\n.*hw publish act\.mjs/),
    });
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

test('from an empty folder to live events of a source that is worked on', async () => {
  const beganMs = Date.now();
  await user.hw(['init', 'source', 'first', '--http']);
  const cli = dev('first.mjs');
  const { endpoint } = await deployed(cli);
  await fetch(endpoint, { method: 'POST', body: 'hello' });
  await cli.untilOutput(/"body":"hello"/);
  expect(Date.now() - beganMs).toBeLessThan(120_000);
});
