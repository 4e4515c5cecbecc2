import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CliUser, createCliUser, HAS_TERMINALS, KEYS, type RunningCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { addLoopbackApp, browse, type OAuthServer, startOAuthServer } from '../support/oauth-server.ts';

const { enter, down, space, interrupt, backspace, endOfInput } = KEYS;

let hw: Headwater;
let user: CliUser;
const running: RunningCli[] = [];

beforeAll(async () => {
  hw = await startHeadwater();
  user = await createCliUser({ HEADWATER_URL: hw.url, HEADWATER_API_KEY: hw.apiKey, TERM: 'xterm', NO_COLOR: '1' });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((cli) => cli.end()));
});
afterAll(async () => {
  await user?.remove();
  await hw?.stop();
});

function atTerminal(...args: string[]): RunningCli {
  const cli = user.start(args, { terminal: true });
  running.push(cli);
  return cli;
}

const screen = (cli: RunningCli) => stripVTControlCharacters(cli.stdout());

async function shows(cli: RunningCli, pattern: RegExp): Promise<void> {
  await eventually(() => pattern.test(screen(cli))).catch(() => {
    throw new Error(`${pattern} is not in:\n${screen(cli)}`);
  });
}

/** Types once the question is there. */
async function answer(cli: RunningCli, question: RegExp, ...keys: string[]): Promise<void> {
  await shows(cli, question);
  for (const key of keys) cli.type(key);
}

/** Configured props of the source with this name, once `cli` has created it. */
async function configured(cli: RunningCli, name: string): Promise<Record<string, unknown>> {
  const { code } = await cli.exited;
  if (code !== 0) throw new Error(screen(cli));
  return (await user.json('describe', name)).configured_props;
}

/** Deploys a component with these props, under the name of its file. */
async function deploying(name: string, props: string, rest = ''): Promise<RunningCli> {
  const code = `export default { name: "${name}", version: "0.0.1", props: { ${props} }, ${rest} run() {} };`;
  await writeFile(path.join(user.workDir, `${name}.mjs`), code);
  return atTerminal('deploy', `${name}.mjs`);
}

describe.skipIf(!HAS_TERMINALS)('at a terminal, each prop that needs a value is asked for:', () => {
  test('text, numbers, lists, yes or no, timers; an answer that does not fit again, secrets unseen, no others', async () => {
    const cli = await deploying(
      'plain',
      `city: { type: "string", label: "City" }, days: { type: "integer" }, tags: { type: "string[]" }, loud: { type: "boolean" },
       timer: "$.interface.timer", token: { type: "string", secret: true }, note: { type: "string", optional: true },
       unit: { type: "string", default: "K" }, db: "$.service.db"`,
    );
    await answer(cli, /City/, 'Bern', enter);
    await answer(cli, /days/, 'x', enter);
    await answer(cli, /A whole number, please/, backspace, '3', enter);
    await answer(cli, /tags/, 'a, b', enter);
    await answer(cli, /loud/, 'y');
    await answer(cli, /timer/, '0 9 * * 1-5', enter);
    await answer(cli, /token/, 'abcdefgh', enter);
    expect(await configured(cli, 'plain')).toEqual({
      city: 'Bern',
      days: 3,
      tags: ['a', 'b'],
      loud: true,
      unit: 'K',
      timer: expect.objectContaining({ cron: '0 9 * * 1-5' }),
    });
    expect(screen(cli)).not.toMatch(/abcdefgh|note|unit/);
  });

  test('from the options that the component computes with the values so far, page after page', async () => {
    const cli = await deploying(
      'paged',
      `owner: { type: "string" }, repo: { type: "string", options({ page }) {
         return page > 2 ? [] : [1, 2].map((at) => ({ label: \`\${this.owner} \${page}.\${at}\`, value: \`r\${page}\${at}\` }));
       } }`,
    );
    await answer(cli, /owner/, 'ann', enter);
    await answer(cli, /ann 0\.1/, down, down, enter);
    await answer(cli, /ann 1\.2/, down, down, enter);
    expect(await configured(cli, 'paged')).toMatchObject({ repo: 'r11' });
  });

  test('several of them for a list, over pages, and with a search where the prop takes one', async () => {
    const cli = await deploying(
      'several',
      `ids: { type: "integer[]", useQuery: true, options({ page, query, prevContext }) {
         const from = prevContext.from ?? 10;
         return page > 1 ? [] : { options: [from, from + 1].map((value) => ({ label: query + value, value })), context: { from: from + 2 } };
       } }`,
    );
    await answer(cli, /Search ids/, 'no', enter);
    await answer(cli, /no10[\s\S]*search for something else/, down, down, down, space, enter);
    await answer(cli, /(nothing: all of them[\s\S]*){2}/, 'q', enter);
    await answer(cli, /q10/, space, down, down, space, enter);
    await answer(cli, /q13/, down, down, down, space, enter);
    expect(await configured(cli, 'several')).toMatchObject({ ids: [10, 13] });
  });

  test('typed, where its options fail or the value is not among them', async () => {
    const cli = await deploying(
      'typed',
      `a: { type: "string", options() { throw new Error("service is down"); } }, b: { type: "string", options: ["one", "two"] }`,
    );
    await answer(cli, /service is down[\s\S]* a\s/, 'mine', enter);
    await answer(cli, /two/, down, down, enter);
    await answer(cli, /◆ {2}b\s+│ {2}█|◆ {2}b\s+│ {2}_/, 'three', enter);
    expect(await configured(cli, 'typed')).toEqual({ a: 'mine', b: 'three' });
  });

  test('also those that it gets only by the answers, or by values of --prop', async () => {
    const props = 'kind: { type: "string", reloadProps: true }';
    const rest =
      'additionalProps() { return this.kind === "none" ? {} : { [`for_${this.kind}`]: { type: "string", options() { return [`x-${this.kind}`]; } } }; },';
    const cli = await deploying('dynamic', props, rest);
    await answer(cli, /kind/, 'mail', enter);
    await answer(cli, /x-mail/, enter);
    expect(await configured(cli, 'dynamic')).toEqual({ kind: 'mail', for_mail: 'x-mail' });
    const given = ['deploy', 'dynamic.mjs', '--name', 'given', '--prop'];
    const missing = await user.hw([...given, 'kind=post']);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('--prop for_post=<for_post>') });
    expect((await user.hw([...given, 'kind=post', '--prop', 'for_post=1'])).code).toBe(0);
    const updating = atTerminal('update', 'given', '--code', 'dynamic.mjs', '--prop', 'kind=mail');
    await answer(updating, /x-mail/, enter);
    expect(await configured(updating, 'given')).toMatchObject({ kind: 'mail', for_mail: 'x-mail' });
  });

  test('a data store: one that is there, or a new one', async () => {
    const first = await deploying('store', 'store: { type: "data_store" }');
    await answer(first, /a new data store/, enter);
    await answer(first, /Name of the new data store/, 'cache', enter);
    const { store } = await configured(first, 'store');
    const second = await deploying('store-2', 'store: { type: "data_store" }');
    await answer(second, /cache/, enter);
    expect(await configured(second, 'store-2')).toEqual({ store });
  });

  test('Ctrl-C at a question ends with 130 and makes nothing', async () => {
    const cli = await deploying('cancelled', 'city: { type: "string" }');
    await answer(cli, /city/, interrupt);
    expect((await cli.exited).code).toBe(130);
    expect((await user.hw(['describe', 'cancelled'])).code).toBe(4);
  });

  test('so does Ctrl-D, at every kind of question, also at the second one', async () => {
    const first = await deploying('ended', 'city: { type: "string" }, level: { type: "string", options: ["a", "b"] }');
    await answer(first, /city/, endOfInput);
    expect(await first.exited).toMatchObject({ code: 130, stdout: expect.stringContaining('Cancelled') });
    const second = atTerminal('deploy', 'ended.mjs');
    await answer(second, /city/, 'Bern', enter);
    await answer(second, /level/, endOfInput);
    expect((await second.exited).code).toBe(130);
    expect((await user.hw(['describe', 'ended'])).code).toBe(4);
  });

  test('Ctrl-C while the server is at work says that the outcome is unknown', async () => {
    const hook = 'hooks: { deploy() { return new Promise((resolve) => setTimeout(resolve, 3_000)); } },';
    const cli = await deploying('slow', '', hook);
    await answer(cli, /Deploying slow/, interrupt);
    const { code, stdout } = await cli.exited;
    expect([code, stdout]).toEqual([130, expect.stringContaining('the server may have made it all the same')]);
  });

  test('hw login asks again for what is no URL', async () => {
    const cli = user.start(['login'], { terminal: true, env: { HEADWATER_URL: '', HEADWATER_API_KEY: '' } });
    running.push(cli);
    await answer(cli, /Where is the server/, 'nonsense', enter);
    await answer(cli, /nonsense is not a URL/, ...'nonsense'.split('').map(() => backspace), hw.url, enter);
    await answer(cli, /API key/, hw.apiKey, enter);
    expect(await cli.exited).toMatchObject({ code: 0, stdout: expect.stringContaining(`Logged in to ${hw.url}`) });
  });
});

describe.skipIf(!HAS_TERMINALS)('an account of an app', () => {
  let provider: OAuthServer;

  beforeAll(async () => {
    provider = await startOAuthServer({ redirectUri: `${hw.url}/oauth/callback` });
    await addLoopbackApp(hw, provider);
    const fields = [
      { name: 'domain', label: 'Domain', secret: false },
      { name: 'api_key', label: 'API key' },
    ];
    await hw.admin('POST', '/apps', { name_slug: 'keyed', name: 'Keyed', auth_type: 'keys', fields });
  });
  afterAll(() => provider?.stop());

  test('with keys is connected at the terminal, its keys unseen, and chosen another time', async () => {
    const cli = await deploying('keyed', 'keyed: { type: "app", app: "keyed" }');
    await answer(cli, /connect an account/, enter);
    await answer(cli, /Keyed: name of the account/, 'at work', enter);
    await answer(cli, /Keyed: Domain/, 'acme', enter);
    await answer(cli, /Keyed: API key/, 'k3y-k3y-k3y', enter);
    const { keyed } = await configured(cli, 'keyed');
    expect(screen(cli)).not.toContain('k3y-');
    expect(screen(cli)).toContain('were not tested: The app has no request to test its keys with');
    const { authProvisionId: id } = keyed as { authProvisionId: string };
    const { credentials } = (await hw.api('GET', `/connected_accounts/${id}`, { include_credentials: 1 })).data;
    expect(credentials).toMatchObject({ domain: 'acme', api_key: 'k3y-k3y-k3y' });
    const again = await deploying('keyed-2', 'keyed: { type: "app", app: "keyed" }');
    await answer(again, /at work[^]*connect another account/, enter);
    expect(await configured(again, 'keyed-2')).toEqual({ keyed });
    expect(await user.json('deploy', 'keyed.mjs', '--prop', `keyed=${id}`)).toMatchObject({
      configured_props: { keyed },
    });
  });

  test('with OAuth is connected by the link that is shown, and taken when it is there', async () => {
    const cli = await deploying('oauth', 'loopback: { type: "app", app: "loopback" }');
    await answer(cli, /connect an account/, enter);
    await answer(cli, /name of the account/, enter);
    await shows(cli, /http\S+\/auth\?\S+\s/);
    const [url = ''] = /http\S+\/auth\?\S+/.exec(screen(cli)) ?? [];
    await fetch(await browse(url, `${hw.url}/oauth/callback`));
    const { loopback } = await configured(cli, 'oauth');
    expect(loopback).toEqual({ authProvisionId: expect.stringMatching(/^apn_/) });
  });
});

describe.skipIf(!HAS_TERMINALS)('hw dev at a terminal', () => {
  test('asks once, again only for what a save needs in addition, and shows what came meanwhile afterwards', async () => {
    const code = (props: string) =>
      `export default { name: "live", version: "1", props: { http: "$.interface.http", city: { type: "string" }, ${props} },
        run() { this.$emit({ in: this.city, at: this.street }); } };`;
    const file = path.join(user.workDir, 'live.mjs');
    await writeFile(file, code(''));
    const cli = atTerminal('dev', 'live.mjs');
    await answer(cli, /city/, 'Bern', enter);
    const [, id = '', endpoint = ''] = await cli.untilOutput(/\((dc_\w+)\)\s+Endpoint: (http\S+)/);
    await fetch(endpoint);
    await shows(cli, /"in": "Bern"/);
    await writeFile(file, code('street: { type: "string", label: "Which street?" }'));
    await shows(cli, /Which street\?/);
    const before = screen(cli);
    await fetch(endpoint);
    await hw.untilEvents(id, 2);
    // Another follower has the event by now.
    const other = user.start(['events', id, '-f', '-n', '1']);
    await other.untilOutput(/Bern/);
    await other.end();
    expect(screen(cli).slice(before.length)).not.toContain('"in"');
    await answer(cli, /Which street\?/, 'Main', enter);
    await eventually(() => screen(cli).match(/"in": "Bern"/g)?.length === 2);
    await shows(cli, /Deployed again/);
    await fetch(endpoint);
    await shows(cli, /"at": "Main"/);
    cli.type(interrupt);
    await shows(cli, /hw dev live\.mjs --dc dc_/);
    expect((await cli.exited).code).toBe(130);
    expect(screen(cli).match(/◆ {2}city/g)).toHaveLength(1);
  });

  test('does not ask again because a hook failed', async () => {
    const code = (deploy: string) =>
      `export default { name: "hooked", version: "1", props: { http: "$.interface.http", city: { type: "string" } },
        hooks: { deploy() { ${deploy} } }, run() {} };`;
    const file = path.join(user.workDir, 'hooked.mjs');
    await writeFile(file, code('throw new Error("not yet");'));
    const cli = atTerminal('dev', 'hooked.mjs');
    await answer(cli, /city/, 'Bern', enter);
    await shows(cli, /not yet[\s\S]*Waiting for a save/);
    await writeFile(file, code('if (this.city !== "Bern") throw new Error("forgotten");'));
    await shows(cli, /Deployed hooked/);
    expect(screen(cli).match(/◆ {2}city/g)).toHaveLength(1);
  });
});
