import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type CliUser, createCliUser } from '../support/cli.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { startTunnelProxy } from '../support/tunnel-proxy.ts';

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

test('a missing profile named by HEADWATER_PROFILE is an error', async () => {
  await login();
  const env = { HEADWATER_PROFILE: 'typo' };
  const { code, stderr } = await user.hw(['list'], { env });
  expect([code, stderr]).toEqual([
    3,
    expect.stringContaining('There is no profile typo, which HEADWATER_PROFILE names'),
  ]);
  const complete = { ...env, HEADWATER_URL: hw.url, HEADWATER_API_KEY: hw.apiKey };
  expect((await user.hw(['list'], { env: complete })).code).toBe(0);
});

test('a file that others can read is warned of, and one that is not needed is not read', async () => {
  await login();
  const file = path.join(user.configDir, 'config.json');
  await chmod(file, 0o644);
  const { code, stderr } = await user.hw(['whoami']);
  expect([code, stderr]).toEqual([0, `warning: others on this machine can read your keys: chmod 600 ${file}\n`]);
  await writeFile(file, 'broken');
  const env = { HEADWATER_URL: hw.url, HEADWATER_API_KEY: hw.apiKey };
  expect(await user.hw(['whoami'], { env })).toMatchObject({ code: 0, stderr: '' });
});

test('a key that is refused says where it is from', async () => {
  const refused = async (args: string[], env: Record<string, string> = {}) =>
    (await user.hw(['list', ...args], { env: { HEADWATER_URL: hw.url, ...env } })).stderr;
  expect(await refused(['--api-key', 'hw_wrong'])).toContain('that of --api-key');
  expect(await refused([], { HEADWATER_API_KEY: 'hw_wrong' })).toContain('HEADWATER_API_KEY: set another');
  await login('-p', 'my work');
  const file = path.join(user.configDir, 'config.json');
  await writeFile(file, (await readFile(file, 'utf8')).replace(hw.apiKey, 'hw_wrong'));
  expect((await user.hw(['list', '-p', 'my work'])).stderr).toContain(`hw login --url ${hw.url} -p 'my work'`);
});

test('the URL may end in slashes or in the /v1 of the interface; where the server speaks no TLS, it says so', async () => {
  for (const end of ['/', '//', '/v1', '/v1/']) {
    const { url } = await user.json('login', '--url', hw.url + end, '--api-key', hw.apiKey);
    expect(url).toBe(hw.url);
  }
  const plain = await user.hw(['whoami', '--url', hw.url.replace('http:', 'https:'), '--api-key', 'x']);
  expect([plain.code, plain.stderr]).toEqual([
    5,
    expect.stringContaining(`it does not speak TLS\n  → Is it ${hw.url}?`),
  ]);
});

test('a proxy of the environment is the way to other machines, and never to this one', async () => {
  const proxy = await startTunnelProxy();
  try {
    const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, HEADWATER_API_KEY: hw.apiKey };
    const far = `http://headwater.test:${new URL(hw.url).port}`;
    expect(await user.hw(['whoami', '--url', far], { env })).toMatchObject({ code: 0 });
    expect(proxy.asked.map(({ authority }) => authority)).toEqual([new URL(far).host]);
    expect(await user.hw(['whoami', '--url', hw.url], { env })).toMatchObject({ code: 0 });
    expect(proxy.asked).toHaveLength(1);
    const without = await user.hw(['whoami', '--url', far], { env: { ...env, NO_PROXY: 'headwater.test' } });
    expect([without.code, proxy.asked.length]).toEqual([5, 1]);
    const odd = await user.hw(['whoami', '--url', far], { env: { ...env, HTTP_PROXY: 'hush hush' } });
    expect([odd.code, odd.stderr.includes('hush')]).toEqual([2, false]);
  } finally {
    await proxy.stop();
  }
});

test('without a login: exit code 3, and the command for it', async () => {
  const { code, stderr } = await user.hw(['list', '--url', hw.url]);
  expect([code, stderr]).toEqual([
    3,
    `error: Nobody is logged in to ${hw.url}\n  → Log in with: hw login --url ${hw.url}   or set HEADWATER_API_KEY\n`,
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
