import { LIMITS } from '../../shared/src/index.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { type FileServer, startFileServer } from '../support/file-server.ts';

let headwater: Headwater;
let files: FileServer;

beforeAll(async () => {
  [headwater, files] = await Promise.all([sharedHeadwater(), startFileServer()]);
});
afterAll(async () => {
  await headwater.stop();
  await files.stop();
});

const source = (imports: string, body: string): string =>
  `${imports}
export default {
  name: 'Imports', version: '1', props: { http: '$.interface.http' },
  async run(event) {
    ${body}
  },
};`;

async function emitOf(code: string): Promise<unknown> {
  const { id, endpoint } = await headwater.deploy(code);
  await fetch(endpoint, { method: 'POST' });
  const [stored] = await headwater.untilEvents(id, 1);
  return stored?.event;
}

// The one test that needs the registry which npm is set to use.
test('a component is saved with the versions of its packages, and runs with them', async () => {
  const code = source(
    "import isNumber from 'is-number@7.0.0'; import ms from 'ms@~2.1.2'; import is from '@sindresorhus/is@^7';\nconst slugify = require('slugify');",
    'this.$emit([isNumber("5"), ms("2 days"), is(1n), slugify("Two Words")]);',
  );
  const { status, data, text } = await headwater.api('POST', '/components', { component_code: code });
  expect({ status, text }).toMatchObject({ status: 200 });
  expect(data.dependencies).toEqual({
    '@sindresorhus/is': expect.stringMatching(/^7\./),
    'is-number': '7.0.0',
    ms: expect.stringMatching(/^2\.1\.\d+$/),
    slugify: expect.stringMatching(/^\d+\.\d+\.\d+$/),
  });
  const { data: read } = await headwater.api('GET', `/components/${data.id}`);
  expect(read.dependencies).toEqual(data.dependencies);
  expect(await emitOf(code)).toEqual([true, 172_800_000, 'bigint', 'Two-Words']);
  const { data: other } = await headwater.api('POST', '/components', {
    component_code: 'export default { name: "x", version: "1", run() {} }',
  });
  expect(other.dependencies).toEqual({});
});

test.each([
  ['./beside.js', 'there is no such file beside the component'],
  ['is-number@^99', 'the registry has no version that fits "^99"; the latest is'],
])('the import of %s is refused with the reason and the line', async (specifier, reason) => {
  const code = source(`import url from 'url';\nimport x from '${specifier}';`, 'x(url)');
  const { status, text } = await headwater.api('POST', '/components', { component_code: code });
  expect(status).toBe(400);
  const { type, errors } = JSON.parse(text) as { type: string; errors: { message: string }[] };
  expect(type).toContain('invalid-component');
  expect(errors).toEqual([expect.objectContaining({ path: 'component_code', file: 'component.mjs', line: 2 })]);
  expect(errors[0]?.message).toContain(`Cannot resolve "${specifier}": ${reason}`);
});

describe('a component from a URL', () => {
  const app = 'export default { greet(name) { return `Hello ${name}`; } };';

  test('comes with the files that it imports, and those that they import', async () => {
    files.serve(
      '/repo/acme/sources/new/new.mjs',
      source(
        "import app from '../../acme.app.mjs'; import { list } from '../common/list';",
        'this.$emit([app.greet("Ada"), ...list]);',
      ),
    );
    files.serve('/repo/acme/acme.app.mjs', app);
    files.serve('/repo/acme/sources/common/list.mjs', "import data from './data.json'; export const list = data.list;");
    files.serve('/repo/acme/sources/common/data.json', '{"list":[1,2]}');
    const { status, data, text } = await headwater.api('POST', '/sources', {
      component_url: `${files.url}/repo/acme/sources/new/new.mjs`,
    });
    expect({ status, text }).toMatchObject({ status: 200 });
    await fetch(data.configured_props.http.endpoint_url, { method: 'POST' });
    const [stored] = await headwater.untilEvents(data.id, 1);
    expect(stored?.event).toEqual(['Hello Ada', 1, 2]);
  });

  test('with a missing file is refused by the name of the file', async () => {
    files.serve('/lacking.mjs', source("import app from './gone.mjs';", 'app'));
    const { status, text } = await headwater.api('POST', '/components', { component_url: `${files.url}/lacking.mjs` });
    expect(status).toBe(400);
    expect(text).toContain('Cannot resolve \\"./gone.mjs\\", imported by lacking.mjs: there is no such file');
  });

  test('takes no file from another origin', async () => {
    const other = await startFileServer();
    try {
      other.serve('/app.mjs', app);
      files.serve('/crossing.mjs', source("import app from './moved.mjs';", 'app'));
      files.redirect('/moved.mjs', `${other.url}/app.mjs`);
      const { status, text } = await headwater.api('POST', '/components', {
        component_url: `${files.url}/crossing.mjs`,
      });
      expect(status).toBe(400);
      expect(text).toContain('is on another origin');
    } finally {
      await other.stop();
    }
  });

  test('has to be fetched over https, but for this machine', async () => {
    const { status, text } = await headwater.api('POST', '/components', { component_url: 'http://example.com/x.mjs' });
    expect(status).toBe(400);
    expect(text).toContain('Must be an https URL');
  });

  test('is not read where its host is longer than any name', async () => {
    const component_url = `https://${'ﷺ'.repeat(LIMITS.maxUrlHostChars)}.example/x.mjs`;
    for (const input of [{ component_url }, { component_url, component_code: 'export default {}' }]) {
      const { status, text } = await headwater.api('POST', '/components', input);
      expect(status).toBe(400);
      expect(text).toContain(`must not name a host of more than ${LIMITS.maxUrlHostChars} characters`);
    }
  });

  test('cannot import endless files', async () => {
    files.serve(
      '/endless.mjs',
      source(Array.from({ length: 101 }, (_, i) => `import './part${i}.mjs';`).join('\n'), ''),
    );
    const { text } = await headwater.api('POST', '/components', { component_url: `${files.url}/endless.mjs` });
    expect(text).toContain('more than 100 files');
    expect(JSON.parse(text)).toMatchObject({ limit: { name: 'maxComponentFiles', value: 100, used: 102 } });
  });

  test.each([
    ['alone', ''],
    ['with what it imports', `import './half.mjs';`],
  ])('has a megabyte of code at most, %s', async (_name, line) => {
    const half = `export default {}; /*${'x'.repeat(600_000)}*/`;
    files.serve('/half.mjs', half);
    files.serve('/large.mjs', source(line, `/*${'x'.repeat(line === '' ? 1_100_000 : 600_000)}*/`));
    const { status, text } = await headwater.api('POST', '/components', { component_url: `${files.url}/large.mjs` });
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      { limit: { name: 'maxComponentCodeBytes', value: 1_048_576 } },
    ]);
  });
});

test('an error is told with the lines of the author alone, of every file, through code of packages', async () => {
  files.serve(
    '/traced/main.mjs',
    source("import ms from 'ms@2.1.3';\nimport { inner } from './inner.mjs';", 'inner(ms);'),
  );
  files.serve('/traced/inner.mjs', '// a comment\nexport function inner(ms) {\n  ms({ toString: undefined });\n}');
  const { data } = await headwater.api('POST', '/sources', { component_url: `${files.url}/traced/main.mjs` });
  await fetch(data.configured_props.http.endpoint_url, { method: 'POST' });
  await headwater.untilIdle();
  const { data: runs } = await headwater.api('GET', `/sources/${data.id}/runs`);
  const frames: string[] = runs[0].error.stack.split('\n').filter((line: string) => /^ +at /.test(line));
  expect(frames).toEqual([
    expect.stringContaining('inner (inner.mjs:3:3)'),
    expect.stringContaining('run (main.mjs:6:5)'),
  ]);
});
