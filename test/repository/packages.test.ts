import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildPackages } from '../support/build-packages.ts';
import { type CliUser, createCliUser } from '../support/cli.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 });

const MB = 1024 * 1024;
const ROOT = path.resolve(import.meta.dirname, '../..');

let hw: Headwater;
let user: CliUser;
let receiver: Receiver;
let install: string;

/** Never as spawnSync does it: the node and the receiver may live in this process. */
async function run(command: string, args: string[], cwd: string, env: Record<string, string> = {}) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, stdout, stderr };
}

async function must(command: string, args: string[], cwd: string): Promise<void> {
  const { code, stderr } = await run(command, args, cwd);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${stderr}`);
}

/** The folder of an installed package. */
const folderOf = (name: string) => path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

/** Installs as a user does, but from files of this machine. */
beforeAll(async () => {
  hw = await sharedHeadwater();
  user = await createCliUser({ HEADWATER_URL: hw.url, HEADWATER_API_KEY: hw.apiKey });
  receiver = await startReceiver();
  if (!existsSync(path.join(ROOT, 'client/src/schema.d.ts')))
    await must('node', ['test/support/write-web-schema.ts'], ROOT);
  const { client, cli } = await buildPackages(path.join(user.home, 'built'));
  const tarballs = path.join(user.home, 'tarballs');
  install = path.join(user.home, 'install');
  await mkdir(tarballs);
  await mkdir(install);
  const platform = `@esbuild/${process.platform}-${process.arch}`;
  const packed = [client, cli, folderOf('esbuild'), folderOf(platform)];
  await must('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', tarballs, ...packed], ROOT);
  await writeFile(path.join(install, 'package.json'), '{ "private": true, "type": "module" }');
  const files = (await readdir(tarballs)).map((name) => path.join(tarballs, name));
  await must('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', ...files], install);
});
afterAll(async () => {
  await receiver?.stop();
  await user?.remove();
  await hw?.stop();
});

describe('@headwater/cli from its tarball', () => {
  const installed = (...args: string[]) =>
    run(
      process.execPath,
      [path.join(install, 'node_modules/@headwater/cli/bin/hw.js'), ...args],
      user.workDir,
      user.env,
    );

  test('takes at most 15 MB, with neither a database nor the server', async () => {
    const names = await readdir(path.join(install, 'node_modules'), { recursive: true });
    const sizes = await Promise.all(
      names.map(async (name) => {
        const about = await stat(path.join(install, 'node_modules', name));
        return about.isFile() && !name.includes('headwater/client') ? about.size : 0;
      }),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(15 * MB);
    expect(names.filter((name) => /postgres|biome|engine|isolated/.test(name))).toEqual([]);
  });

  test('says its version, makes a component with its types, and deploys it', async () => {
    expect(await installed('--version')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^hw \d+\.\d+\.\d+, Node 24/),
    });
    expect(await installed('init', 'source', 'alone')).toMatchObject({ code: 0 });
    expect(await readFile(path.join(user.workDir, 'headwater.d.ts'), 'utf8')).toContain(
      "declare module '@headwater/types'",
    );
    await writeFile(path.join(user.workDir, 'part.mjs'), 'export const word = "part";');
    await writeFile(
      path.join(user.workDir, 'whole.mjs'),
      `import { word } from './part.mjs'; export default { name: word, version: '0.0.1', run() { this.$emit(word); } };`,
    );
    for (const file of ['alone.mjs', 'whole.mjs'])
      expect(await installed('deploy', file)).toMatchObject({ code: 0, stdout: expect.stringContaining('Deployed') });
    await writeFile(
      path.join(user.workDir, 'headwater.yaml'),
      'name: alone\nsources:\n  alone-inbox: { ingest: true }\n',
    );
    expect(await installed('apply')).toMatchObject({ code: 0, stdout: 'Made 1 change.\n' });
    expect(await installed('server', 'start')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The server is not installed beside this hw'),
    });
  });
});

const PROGRAM = `
import { createClient, HeadwaterProblem } from CLIENT;

const headwater = createClient({ url: process.env.HEADWATER_URL ?? '', apiKey: process.env.HEADWATER_API_KEY ?? '' });
const { data: source } = await headwater.post('/v1/sources', { body: { kind: 'ingest', name: 'typed' } });
const { data: webhook } = await headwater.post('/v1/webhooks', { body: { url: process.env.RECEIVER ?? '', name: 'typed' } });
await headwater.post('/v1/subscriptions', { body: { emitter_id: source.id, listener_id: webhook.id } });
const stream = headwater.stream('/v1/sources/{id}/sse', { path: { id: source.id } });
const first = stream.next();
for (let n = 0; n < 3; n++)
  await headwater.post('/v1/sources/{id}/events', { path: { id: source.id }, body: EVENT });
const streamed = await first;
await stream.return(undefined);
let delivered: string[] = [];
while (delivered.length < 3) {
  delivered = [];
  for await (const delivery of headwater.all('/v1/webhooks/{id}/deliveries', { path: { id: webhook.id }, query: { limit: 1 } }))
    if (delivery.status === 'delivered') delivered.push(delivery.id);
}
const refused = await headwater.get('/v1/sources/{id}', { path: { id: 'dc_unknown' } }).catch((error: unknown) => error);
if (!(refused instanceof HeadwaterProblem)) throw new Error('It was not refused');
console.log(JSON.stringify({ streamed: streamed.value?.data, delivered: delivered.length, status: refused.status, code: refused.code }));
`;

/** Inserts the package name here: the import rules would read it in a literal. */
const programWith = (event: string) => PROGRAM.replace('CLIENT', `'@headwater/client'`).replace('EVENT', event);

describe('@headwater/client from its tarball', () => {
  test('makes a source, sends events, follows their stream and reads the deliveries', async () => {
    const program = programWith(JSON.stringify({ events: [{ data: { total: 12 } }] }));
    await writeFile(path.join(install, 'program.ts'), program);
    const env = { ...user.env, RECEIVER: receiver.url };
    const { code, stdout, stderr } = await run(process.execPath, ['program.ts'], install, env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const seen = JSON.parse(stdout) as Record<string, unknown>;
    expect(seen).toMatchObject({ delivered: 3, status: 404, code: 'NOT_FOUND' });
    expect(seen['streamed']).toContain('"total":12');
  });

  test('its types know paths, parameters and answers', async () => {
    const wrong = `${programWith('{ events: [] }')}
// @ts-expect-error There is no such path.
await headwater.get('/v1/planets');
// @ts-expect-error The path has a name.
await headwater.get('/v1/sources/{id}');
// @ts-expect-error A number is no name.
await headwater.post('/v1/webhooks', { body: { url: '', name: 1 } });
const id: string = (await headwater.get('/v1/webhooks/{id}', { path: { id: '' } })).data.id;
`;
    await writeFile(path.join(install, 'typed.ts'), wrong);
    const options = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--skipLibCheck',
      '--types',
      'node',
    ];
    const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
    const roots = ['--typeRoots', path.join(ROOT, 'node_modules/@types')];
    const { code, stdout } = await run(process.execPath, [tsc, ...options, ...roots, 'typed.ts'], install);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  });
});
