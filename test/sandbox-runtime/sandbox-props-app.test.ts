import type { RunProp } from '@headwater/shared';
import { describe, expect, test } from 'vitest';
import { bundle, sandboxForFile } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

const GITHUB = `const github = {
  type: 'app', app: 'github',
  propDefinitions: { repo: { type: 'string', async options() { return this.listRepos(); } } },
  methods: {
    _headers() { return { authorization: 'Bearer ' + this.$auth.oauth_access_token }; },
    request(path) { return { path, headers: this._headers() }; },
    listRepos() { return ['one', this.$auth.oauth_uid]; },
    get baseUrl() { return 'https://' + this.$auth.host; },
  },
};`;

const ACCOUNT: RunProp = {
  kind: 'app',
  app: 'github',
  auth: { oauth_access_token: 'tok', oauth_uid: 'u1', host: 'api.example' },
};

/**
 * Runs a component that emits the value of the expression. `rest`: further members of the
 * component.
 */
async function valueOf(
  expression: string,
  rest: string,
  props: Record<string, RunProp>,
  before = '',
): Promise<unknown> {
  const code = `${before}\nexport default { name: 't', version: '1', ${rest}, async run() { this.$emit((${expression}) ?? null); } };`;
  const { outcome, host } = await sandbox.run(code, { props });
  if (!outcome.ok) throw new Error(`${outcome.fault.code}: ${outcome.fault.message}`);
  return host.data()[0];
}

describe('props: app', () => {
  test('this.<app>.<method>() is called with the app as its this, and its methods call each other', async () => {
    expect(await valueOf(`this.github.request('/user')`, 'props: { github }', { github: ACCOUNT }, GITHUB)).toEqual({
      path: '/user',
      headers: { authorization: 'Bearer tok' },
    });
  });

  test('$auth is there in the component and in the methods of the app, at once', async () => {
    const seen = await valueOf(
      `[this.github.$auth.oauth_uid, this.github._headers().authorization, this.viaMethod()]`,
      `props: { github }, methods: { viaMethod() { return this.github.$auth.host; } }`,
      { github: ACCOUNT },
      GITHUB,
    );
    expect(seen).toEqual(['u1', 'Bearer tok', 'api.example']);
  });

  test('methods of an app are there in hooks', async () => {
    const code = `${GITHUB} export default { name: 't', version: '1', props: { github },
      hooks: { async activate() { this.$emit(this.github.request('/hooks')); } }, run() {} };`;
    const { host } = await sandbox.run(code, { props: { github: ACCOUNT }, hook: 'activate' });
    expect(host.data()).toMatchObject([{ path: '/hooks', headers: { authorization: 'Bearer tok' } }]);
  });

  test('an app that extends another has the methods of both, and accessors read $auth', async () => {
    const before = `${GITHUB} const more = { ...github, methods: {
      ...Object.fromEntries(Object.entries(Object.getOwnPropertyDescriptors(github.methods)).filter(([n]) => n !== 'baseUrl').map(([n, d]) => [n, d.value])),
      get site() { return 'https://' + this.$auth.host; },
      request(path) { return 'more ' + path + ' ' + this._headers().authorization; } } };`;
    expect(
      await valueOf(
        `[this.github.request('/x'), this.github.site]`,
        'props: { github: more }',
        { github: ACCOUNT },
        before,
      ),
    ).toEqual(['more /x Bearer tok', 'https://api.example']);
    expect(await valueOf(`this.github.baseUrl`, 'props: { github }', { github: ACCOUNT }, GITHUB)).toBe(
      'https://api.example',
    );
  });

  test('several props of the same app have each its own account', async () => {
    const other: RunProp = {
      kind: 'app',
      app: 'github',
      auth: { oauth_access_token: 'tok2', oauth_uid: 'u2', host: 'b.example' },
    };
    expect(
      await valueOf(
        `[this.from.request('/').headers.authorization, this.to.request('/').headers.authorization, this.from.$auth.oauth_uid]`,
        'props: { from: github, to: github }',
        { from: ACCOUNT, to: other },
        GITHUB,
      ),
    ).toEqual(['Bearer tok', 'Bearer tok2', 'u1']);
  });

  test('an app without an account has its methods, and reading a key of its $auth answers undefined', async () => {
    expect(
      await valueOf(
        `[this.github.request('/x').path, typeof this.github.$auth.oauth_access_token]`,
        'props: { github }',
        {},
        GITHUB,
      ),
    ).toEqual(['/x', 'undefined']);
  });

  test('fields that a run sets on an app or its $auth are gone in the next run of a warm isolate', async () => {
    const code = `${GITHUB} export default { name: 't', version: '1', props: { github },
      run() { this.$emit([this.github.mark ?? null, this.github.$auth.mark ?? null]); this.github.mark = 1; this.github.$auth.mark = 1; } };`;
    const warm = { isolateKey: 'dc_warmapp:1', props: { github: ACCOUNT } };
    await sandbox.run(code, warm);
    const { host } = await sandbox.run(code, warm);
    expect(host.data()).toEqual([[null, null]]);
  });

  test('the app itself is shown by its slug, without methods and definitions', async () => {
    const outcome = await sandbox
      .get()
      .describe(
        'o_test',
        await bundle(
          `${GITHUB} export default { name: 't', version: '1', run() {}, props: { github: { ...github, label: 'Hub' }, repo: { propDefinition: [github, 'repo'] } } }`,
        ),
      );
    expect(outcome).toMatchObject({
      ok: true,
      description: {
        props: [
          { name: 'github', type: 'app', app: 'github', label: 'Hub' },
          { name: 'repo', type: 'string', options: true, propDefinition: ['github', 'repo'] },
        ],
      },
    });
    expect(JSON.stringify(outcome)).not.toMatch(/propDefinitions|methods/);
  });
});
