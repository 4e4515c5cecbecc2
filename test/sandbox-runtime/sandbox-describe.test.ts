import { bundleComponent } from '@headwater/sandbox-runtime';
import type { FieldError } from '@headwater/shared';
import { describe, expect, test } from 'vitest';
import { buildKitForFile } from '../support/build-kit.ts';
import { bundle, sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();
const kit = buildKitForFile();

async function bundleErrors(code: string, fileName?: string): Promise<FieldError[]> {
  const outcome = await bundleComponent(code, fileName);
  return outcome.ok ? [] : outcome.errors;
}

async function describeErrors(code: string): Promise<FieldError[]> {
  const outcome = await sandbox.get().describe('o_test', await bundle(code));
  return outcome.ok ? [] : outcome.errors;
}

describe('bundling', () => {
  test('a syntax error names file, line and column', async () => {
    expect(await bundleErrors('export default {\n  name: "x",\n  run( { }\n};')).toEqual([
      { path: 'component_code', message: expect.stringMatching(/Expected/), file: 'component.js', line: 4, column: 0 },
    ]);
  });

  test('TypeScript is accepted, and a mistake in JavaScript is reported as one of JavaScript', async () => {
    expect(
      await bundleErrors(
        `interface A { b: number }\nexport default { name: 'x', version: '1', run(e: A): void { e.b as unknown } };`,
      ),
    ).toEqual([]);
    const [error] = await bundleErrors('export default {\n  name: "x" version: "1"\n};', 'mine.js');
    expect(error).toMatchObject({ file: 'mine.js', line: 2, message: 'Expected "}" but found "version"' });
  });

  test('imports that cannot be had are refused at their line, all of them', async () => {
    const code = `import axios from 'axios@file:x';\nimport { readFileSync } from 'node:nothing';\nimport x from './other.js';\nimport y from 'https://esm.sh/y';\nimport z from '/etc/passwd';\nexport default [axios, readFileSync, x, y, z];`;
    const errors = await bundleErrors(code);
    expect(errors.map(({ line, message }) => [line, message])).toEqual([
      [1, 'Cannot resolve "axios@file:x": "file:x" is not a version, a range or a tag of the registry'],
      [2, 'Cannot resolve "node:nothing": this module of Node is not available'],
      [3, 'Cannot resolve "./other.js": there is no such file beside the component'],
      [4, 'Cannot resolve "https://esm.sh/y": imports from https: addresses are not available'],
      [5, 'Cannot resolve "/etc/passwd": files of the server cannot be imported'],
    ]);
  });

  test('the bundler reads no file of the host for any code', async () => {
    const tries = [
      `import text from '/etc/hostname' with { type: 'text' }; export default text`,
      `import text from 'data:text/plain,hello'; export default text`,
      `export default await import('/etc/hostname')`,
      `export default require('/etc/hostname')`,
      `export default new URL('/etc/hostname', import.meta.url) && require('file:///etc/hostname')`,
      `/** @jsxImportSource /etc */ import a from 'tsconfig.json'; export default a`,
    ];
    for (const code of tries) expect(await bundleErrors(code)).not.toEqual([]);
    const { sourceMap, code } = await bundle(`//# sourceMappingURL=/etc/passwd\nexport default { a: 1 }`);
    expect(sourceMap + code).not.toContain('root:');
  });

  test('the same code has the same hash, other code another', async () => {
    const [a, b, c] = await Promise.all([
      bundle('export default 1'),
      bundle('export default 1'),
      bundle('export default 2'),
    ]);
    expect(a.hash).toBe(b.hash);
    expect(a.hash).not.toBe(c.hash);
    expect(a.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  test('code over a megabyte is refused', async () => {
    expect(await bundleErrors(`export default '${'x'.repeat(1024 * 1024)}'`)).toMatchObject([
      { message: 'The code is 1048593 bytes; the limit maxComponentCodeBytes is 1048576 bytes' },
    ]);
    expect(await kit.build(`export default '${'x'.repeat(1024 * 1024)}'`)).toMatchObject({
      ok: false,
      limit: { name: 'maxComponentCodeBytes', value: 1_048_576, used: 1_048_593 },
    });
  });

  test('a component that imports too many packages is refused with that limit', async () => {
    const code = Array.from({ length: 1_001 }, (_, i) => `import 'needed-${i}@1.0.0-${i}';`).join('');
    expect(await kit.build(`${code}export default {};`)).toMatchObject({
      ok: false,
      limit: { name: 'maxPackagesPerBuild', value: 1_000, used: 1_001 },
    });
  });
});

describe('describing', () => {
  test('a component is described with its props as plain data', async () => {
    const component = await bundle(`
      export default {
        name: 'New item', key: 'feed-new-item', version: '0.1.2', description: 'Reads **a feed**', dedupe: 'unique',
        props: {
          db: '$.service.db',
          http: { type: '$.interface.http', customResponse: true },
          timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } },
          tags: { type: 'string[]', label: 'Tags', optional: true, default: ['a'], async options({ page }) { return [] } },
          app: { type: 'app', app: 'github', propDefinitions: { repo: { type: 'string', options() {} } }, methods: { call() {} } },
          size: { type: 'integer', min: 1, max: 5, secret: false },
        },
        methods: { a() {} }, hooks: { async deploy() {}, deactivate() {} }, async run() {},
      };`);
    expect(await sandbox.get().describe('o_test', component)).toEqual({
      ok: true,
      description: {
        name: 'New item',
        key: 'feed-new-item',
        version: '0.1.2',
        type: 'source',
        description: 'Reads **a feed**',
        dedupe: 'unique',
        hooks: ['deploy', 'deactivate'],
        hasAdditionalProps: false,
        props: [
          { name: 'db', type: '$.service.db' },
          { name: 'http', type: '$.interface.http', customResponse: true },
          { name: 'timer', type: '$.interface.timer', default: { intervalSeconds: 900 } },
          { name: 'tags', type: 'string[]', label: 'Tags', optional: true, default: ['a'], options: true },
          { name: 'app', type: 'app', app: 'github' },
          { name: 'size', type: 'integer', min: 1, max: 5, secret: false },
        ],
      },
    });
  });

  test('a CommonJS module and an action are components as well', async () => {
    const outcome = await sandbox
      .get()
      .describe('o_test', await bundle(`module.exports = { type: 'action', name: 'a', version: '1', run() {} }`));
    expect(outcome).toMatchObject({ ok: true, description: { type: 'action', name: 'a', hooks: [], props: [] } });
  });

  test('everything that is wrong is reported at once, with its path', async () => {
    const errors = await describeErrors(`export default {
      name: 5, type: 'trigger', dedupe: 'sometimes', run: 'soon', hooks: { deploy: 1, start() {} },
      props: { a: { type: 'strin' }, b: 7, c: {}, d: { type: '$.interface' }, e: { type: 'string', label: 3 }, $emit: 'string', f: 'nope' },
    }`);
    expect(errors.map((error) => error.path).sort()).toEqual(
      [
        'name',
        'version',
        'type',
        'dedupe',
        'run',
        'hooks.deploy',
        'hooks.start',
        'props.$emit',
        'props.a.type',
        'props.b',
        'props.c.type',
        'props.d.type',
        'props.e.label',
        'props.f.type',
      ].sort(),
    );
    expect(errors.find((error) => error.path === 'props.a.type')?.message).toBe("'strin' is not a prop type");
  });

  test('each missing part has its own error', async () => {
    expect(await describeErrors(`export default {}`)).toEqual([
      { path: 'name', message: 'name is missing' },
      { path: 'version', message: 'version is missing' },
      { path: 'run', message: expect.stringContaining('run is missing') },
    ]);
  });

  test.each([`export const name = 'x'`, `export default null`, `export default 5`, ``])(
    'no default export object: %s',
    async (code) => {
      expect(await describeErrors(code)).toMatchObject([{ message: expect.stringContaining('default export') }]);
    },
  );

  test('code that throws while it is loaded is reported at the line of the author', async () => {
    const code = `const settings = undefined;\n\nfunction read() {\n  return settings.limit;\n}\nconst limit = read();\nexport default { name: 'x', version: '1', run() { return limit } };`;
    expect(await describeErrors(code)).toEqual([
      {
        path: 'component_code',
        message: "The component failed to load: TypeError: Cannot read properties of undefined (reading 'limit')",
        file: 'component.js',
        line: 4,
        column: expect.any(Number),
      },
    ]);
  });

  test('an error that only V8 finds has the line of the author', async () => {
    const code = `const a = 1;\nexport default { name: 'x', version: '1', run() { return /(?<n>a)(?<n>b)/.test(a) } };`;
    const [error] = [...(await bundleErrors(code)), ...(await describeErrors(code).catch(() => []))];
    expect(error).toMatchObject({ path: 'component_code', line: 2 });
  });

  test('code that loops, bombs or waits while it is loaded is reported, and the process of the tenant lives', async () => {
    expect(await describeErrors(`for (;;);`)).toMatchObject([
      { message: expect.stringMatching(/ms of CPU time; the limit describeCpuMs is 4 000 ms$/) },
    ]);
    // Which limit a bomb meets first depends on how busy the machine is.
    const [bomb] = await describeErrors(`const kept = new Map(); for (let i = 0; ; i++) kept.set(i, i)`);
    expect(bomb?.message).toMatch(/MB of memory|CPU time/);
    expect(await describeErrors(`await new Promise(() => {}); export default {}`)).toMatchObject([
      { message: expect.stringContaining('top-level await') },
    ]);
    expect(await describeErrors(`await fetch('http://a.example/'); export default {}`)).toHaveLength(1);
    expect(await describeErrors(`export default { name: 'x', version: '1', run() {} }`)).toEqual([]);
  });

  test('the outline of a component has a limit, which is named in the error', async () => {
    const code = (chars: number) =>
      `export default { name: 'x', version: '1', run() {}, props: { p: { type: 'any', default: 'x'.repeat(${chars}) } } }`;
    const outcome = await sandbox.get().describe('o_test', await bundle(code(2e6)));
    const limit = { name: 'maxOutlineChars', value: 1_048_576, used: expect.any(Number) };
    const message =
      /^The description of the component has 2 \d{3} \d{3} characters as JSON; the limit maxOutlineChars is 1 048 576 characters$/;
    expect(outcome).toMatchObject({ ok: false, errors: [{ message: expect.stringMatching(message) }], limit });
    expect(outcome.ok || outcome.limit?.used).toBeGreaterThan(2e6);
    expect(await describeErrors(code(10_000))).toEqual([]);
  });

  test('loading has the memory of the account where that is more, and its error names the limit that held', async () => {
    // Buffers: where memory is short, collecting garbage among many objects takes more processor
    // time than loading has.
    const top = `const kept = Array.from({ length: 8 }, () => new Uint8Array(25 * 2 ** 20));`;
    const component = await bundle(withRun(`this.$emit(kept.length)`, top));
    const load = (memoryMb?: number) =>
      sandbox.get().describe('o_test', component, memoryMb === undefined ? {} : { memoryMb });
    for (const [given, name, value] of [
      [undefined, 'describeMemoryMb', 128],
      [32, 'describeMemoryMb', 128],
      [160, 'memoryMb', 160],
    ] as const) {
      const message = expect.stringMatching(new RegExp(`MB of memory; the limit ${name} is ${value} MB$`));
      expect([given, await load(given)]).toEqual([
        given,
        { ok: false, errors: [expect.objectContaining({ message })], limit: { name, value, used: expect.any(Number) } },
      ]);
    }
    expect(await load(512)).toMatchObject({ ok: true });
  });

  test('props that are endless are refused', async () => {
    expect(
      await describeErrors(
        `const a = {}; a.a = a; export default { name: 'x', version: '1', run() {}, props: { p: { type: 'any', default: a } } }`,
      ),
    ).toMatchObject([{ message: expect.stringContaining('nested too deeply') }]);
    expect(
      await describeErrors(`export default { name: 'x', version: '1', run() {}, get props() { for (;;); } }`),
    ).toMatchObject([{ message: expect.stringContaining('CPU time') }]);
  });
});
