import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type CliUser, createCliUser } from './support/cli.ts';
import { type Headwater, startHeadwater } from './support/headwater.ts';

// Every command is a process of its own: beside other work each takes a second instead of a tenth.
vi.setConfig({ testTimeout: 90_000 });

let hw: Headwater;
let user: CliUser;

beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw?.stop());
beforeEach(async () => {
  user = await createCliUser();
});
afterEach(() => user.remove());

const login = (...args: string[]) => user.hw(['login', '--url', hw.url, ...args], { stdin: `${hw.apiKey}\n` });
const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);

test('a key from standard input is checked, kept in a file for its owner alone, and used from then on', async () => {
  const { code, stdout, stderr } = await login();
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `Logged in to ${hw.url} as default.\n`, stderr: '' });
  const file = path.join(user.configDir, 'config.json');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    profiles: { default: { url: hw.url, api_key: hw.apiKey } },
  });
  expect([await modeOf(file), await modeOf(user.configDir)]).toEqual(['600', '700']);
  expect(await user.json('whoami')).toMatchObject({ url: hw.url, profile: 'default', key_from: 'profile' });
});

test('the key is in nothing that is printed', async () => {
  const outputs = [
    await login(),
    await login('--json'),
    await user.hw(['whoami']),
    await user.hw(['whoami', '--json']),
  ];
  outputs.push(await user.hw(['logout', '--json']));
  for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(hw.apiKey);
});

test('a key that the server refuses is not kept, nor is one that no header can hold', async () => {
  expect(await user.hw(['login', '--url', hw.url], { stdin: 'hw_wrong' })).toMatchObject({ code: 3 });
  const odd = await user.hw(['login', '--url', hw.url], { stdin: 'hw_ wrong é' });
  expect([odd.code, odd.stderr.includes('wrong')]).toEqual([3, false]);
  expect(await user.hw(['login', '--url', hw.url], { stdin: '' })).toMatchObject({ code: 2 });
  expect(await user.hw(['login', '--url', 'nonsense'], { stdin: hw.apiKey })).toMatchObject({ code: 2 });
  await expect(stat(user.configDir)).rejects.toThrow('ENOENT');
});

test('folders and files that others could read are closed at the next login', async () => {
  await mkdir(user.configDir, { recursive: true });
  await chmod(user.configDir, 0o755);
  await writeFile(path.join(user.configDir, 'config.json'), '{"profiles":{}}', { mode: 0o644 });
  await login();
  expect([await modeOf(path.join(user.configDir, 'config.json')), await modeOf(user.configDir)]).toEqual([
    '600',
    '700',
  ]);
});

test('XDG_CONFIG_HOME moves the file, and -p keeps several logins apart', async () => {
  user.env['XDG_CONFIG_HOME'] = path.join(user.home, 'xdg');
  await login('-p', 'work');
  expect(await modeOf(path.join(user.home, 'xdg/headwater/config.json'))).toBe('600');
  expect(await user.json('whoami', '-p', 'work')).toMatchObject({ profile: 'work' });
  expect(await user.hw(['whoami'], { env: { HEADWATER_PROFILE: 'work' } })).toMatchObject({ code: 0 });
  const { code, stderr } = await user.hw(['whoami', '-p', 'home']);
  expect([code, stderr]).toEqual([3, expect.stringContaining('profiles: work')]);
  expect(await user.json('logout', '-p', 'work')).toEqual({ profile: 'work', removed: true });
  expect(await user.json('logout', '-p', 'work')).toEqual({ profile: 'work', removed: false });
});

test('nobody is logged in: exit code 3, and what to do', async () => {
  const { code, stderr } = await user.hw(['list', '--url', hw.url]);
  expect([code, stderr]).toEqual([
    3,
    `error: Nobody is logged in to ${hw.url}\n  → Log in with: hw login   or set HEADWATER_API_KEY\n`,
  ]);
});

test('the key of a profile is sent to no other server', async () => {
  await login();
  for (const [args, env] of [
    [['list', '--url', 'http://127.0.0.1:9'], {}],
    [['list'], { HEADWATER_URL: 'http://127.0.0.1:9' }],
  ] as const) {
    expect(await user.hw(args, { env })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Nobody is logged in'),
    });
  }
});

test('options go before the environment, the environment before the profile', async () => {
  await login();
  const wrong = { HEADWATER_URL: hw.url, HEADWATER_API_KEY: 'hw_wrong' };
  expect((await user.hw(['whoami'], { env: wrong })).code).toBe(3);
  expect((await user.hw(['whoami', '--api-key', hw.apiKey], { env: wrong })).code).toBe(0);
  expect((await user.hw(['whoami', '-p', 'default'], { env: wrong })).code).toBe(0);
});

test('a configuration that is broken is named with its file', async () => {
  await mkdir(user.configDir, { recursive: true });
  for (const text of ['{', '[]', '{"profiles":{"default":{"url":5}}}', 'null']) {
    await writeFile(path.join(user.configDir, 'config.json'), text);
    expect(await user.hw(['list'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('config.json is not what hw writes'),
    });
  }
});
