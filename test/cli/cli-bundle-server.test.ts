import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CliUser, createCliUser } from '../support/cli.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { type PackageRegistry, startPackageRegistry } from '../support/package-registry.ts';

let registry: PackageRegistry;
let hw: Headwater;
let user: CliUser;

beforeAll(async () => {
  registry = await startPackageRegistry();
  hw = await startHeadwater({ npmRegistry: registry.url });
  user = await createCliUser({ HEADWATER_URL: hw.url, HEADWATER_API_KEY: hw.apiKey });
});
afterAll(async () => {
  await user?.remove();
  await hw?.stop();
  await registry?.stop();
});

async function write(name: string, ...lines: string[]): Promise<void> {
  const file = path.join(user.workDir, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, lines.join('\n'));
}

/** Standard error of a deployment that the component is to blame for. */
async function refusal(file: string): Promise<string> {
  const { code, stderr } = await user.hw(['deploy', file]);
  expect(code).toBe(6);
  return stderr;
}

describe('errors of the server in a component of several files name the lines of these files:', () => {
  test('an error of a run, through TypeScript and the methods of an app', async () => {
    await write(
      'acme.app.mjs',
      '// one',
      'export default { type: "app", app: "http", methods: {',
      '  ask() {',
      '    throw new Error("no answer");',
      '  } } };',
    );
    await write(
      'sources/common/base.ts',
      'import acme from "../../acme.app.mjs";',
      'interface Asked {',
      '  ask(): void;',
      '}',
      'export const props = { acme };',
      'export function ask(to: Asked): void {',
      '  to.ask();',
      '}',
    );
    await write(
      'sources/new.mjs',
      'import { ask, props } from "./common/base.ts";',
      '',
      'export default { name: "New", version: "1", props: { ...props, http: "$.interface.http" },',
      '  run() {',
      '    ask(this.acme);',
      '  } };',
    );
    const source = await user.json('deploy', 'sources/new.mjs');
    await fetch(source.configured_props.http.endpoint_url as string);
    await hw.untilIdle();
    const { stdout } = await user.hw(['logs', 'new']);
    const frames = stdout.split('\n').filter((line) => /^ +at /.test(line));
    expect(frames.map((line) => line.trim())).toEqual([
      'at Object.ask (acme.app.mjs:4:11)',
      'at ask (common/base.ts:7:6)',
      'at Object.run (new.mjs:5:5)',
    ]);
  });

  test('an error while it loads, and one of a hook', async () => {
    await write('fails.mjs', '// here', 'null.x();');
    await write('load.mjs', 'import "./fails.mjs";', 'export default { name: "Load", version: "1", run() {} };');
    expect(await refusal('load.mjs')).toMatch(/fails\.mjs:2:6: .*Cannot read properties of null/);
    await write('hooked.mjs', '// here', 'export function start() {', '  throw new TypeError("no way");', '}');
    await write(
      'hook.mjs',
      'import { start } from "./hooked.mjs";',
      'export default { name: "Hook", version: "1", hooks: { deploy() { start(); } }, run() {} };',
    );
    expect(await refusal('hook.mjs')).toMatch(/TypeError: no way\n +at start \(hooked\.mjs:3:9\)/);
  });

  test('a package that cannot be had', async () => {
    await write('lib/uses.mjs', '// here', 'import none from "none-of-that-name";', 'export { none };');
    await write(
      'uses.mjs',
      'import { none } from "./lib/uses.mjs";',
      'export default { name: "Uses", version: "1", run() { none(); } };',
    );
    expect(await refusal('uses.mjs')).toMatch(/lib\/uses\.mjs:2:18: Cannot resolve "none-of-that-name"/);
  });
});
