import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { emitting, SECRET, supplyChain } from '../../support/hostile-supply-chain.ts';

// builder: Imports of files of the server, by every way to write one, and of addresses.
describe('file-imports', () => {
  const chain = supplyChain();

  const IMPORTS = [
    ['/etc/passwd', 'files of the server cannot be imported'],
    ['../../../../../../etc/passwd', 'there is no such file beside the component'],
    ['./../../../etc/passwd', 'there is no such file beside the component'],
    ['..', 'there is no such file beside the component'],
    ['file:///etc/passwd', 'imports from file: addresses are not available'],
    ['git+ssh://git@127.0.0.1/x.git', 'imports from git+ssh: addresses are not available'],
    ['http://127.0.0.1/x.js', 'imports from http: addresses are not available'],
    ['data:text/javascript,export default 1', 'imports from data: addresses are not available'],
    ['package@file:/etc', 'is not a version, a range or a tag of the registry'],
    ['package@npm:other', 'is not a version, a range or a tag of the registry'],
    ['package/../../../etc/passwd', 'a path inside a package cannot contain dots'],
    ['..\\\\..\\\\etc\\\\passwd', 'files of the server cannot be imported'],
    ['node_modules/esbuild', 'this is not the name of a package'],
  ] as const;

  it('are refused by their reasons', async () => {
    const refusals = await chain.refusals(...IMPORTS.map(([path]) => path));
    expect(refusals).toEqual(IMPORTS.map(([, reason]) => expect.stringContaining(reason)));
  });
});

// builder: Imports by a pattern, which the bundler looks up on the disk itself, to learn which
// files the server has.
describe('imports-by-pattern', () => {
  const chain = supplyChain();

  /**
   * Patterns of existing files, missing files, missing folders, and files that only the server's
   * user may read.
   */
  const PATTERNS = [
    `import('./etc/pass' + x + 'wd')`,
    `import('./etc/pasq' + x + 'wd')`,
    `import('./no-such-folder/a' + x)`,
    `import('../../../../etc/host' + x + 'name')`,
    'import(`./proc/self/envi${x}`)',
    `import('./' + x + '/passwd')`,
    `import('./root/' + x)`,
    `import('./dev/zer' + x)`,
  ];

  async function told(codes: readonly string[]): Promise<Set<string>> {
    const answers: string[] = [];
    for (const code of codes) answers.push(JSON.stringify(await chain.save(code)));
    return new Set(answers);
  }

  it('get the same answer for files that exist and files that do not', async () => {
    const components = PATTERNS.map((pattern) => `export default { name: 'Looks', run: async ({ x }) => ${pattern} };`);
    const answers = await told(components);
    expect([...answers]).toEqual([expect.stringContaining('each file has to be named')]);
  });

  /**
   * Requires by the pattern, and answers what that came to with nothing that the pattern itself
   * says.
   */
  function lookingPackage(name: string, pattern: string) {
    const index = `
    const look = (x) => ${pattern.replace('import(', 'require(')};
    exports.look = () => {
      try {
        return Object.keys(look(''));
      } catch (error) {
        return [error.code, error.message.replace(/'.*'/, ''), Object.keys(error).join()];
      }
    };`;
    return { name, version: '1.0.0', files: { 'index.js': index } };
  }

  it('in a package match only its own files, for each file of the server', async () => {
    const names = PATTERNS.map((_, i) => `looks-${i}`);
    await chain.publish(...PATTERNS.map((pattern, i) => lookingPackage(names[i] ?? '', pattern)));
    const answers = new Set<string>();
    for (const name of names) {
      const { events } = await chain.deploy(`import found from '${name}';\n${emitting('found.look()')}`);
      answers.add(JSON.stringify(events));
    }
    expect([...answers]).toEqual([JSON.stringify([{ found: ['MODULE_NOT_FOUND', 'Cannot find module ', 'code'] }])]);
  });
});

// builder: Files of the server by require, import(), templates, attributes, URLs, reference
// comments and JSX pragmas.
describe('other-ways-to-a-file', () => {
  const chain = supplyChain();

  it.each([
    ['require', (secret: string) => `require('${secret}')`],
    ['import()', (secret: string) => `await import('${secret}')`],
    ['require.resolve', (secret: string) => `require.resolve('${secret}')`],
    ['a template', (secret: string) => `await import(\`${secret.slice(0, -9)}\${'secret'}.js\`)`],
    ['a climbing template', (secret: string) => `await import(\`./../../../..${secret.slice(0, -9)}\${'secret'}.js\`)`],
    ['an attribute', (secret: string) => `await import('${secret}', { with: { type: 'text' } })`],
    ['a URL', (secret: string) => `await import(new URL('${secret}', import.meta.url).href)`],
    ['fs', (secret: string) => `require('fs').readFileSync('${secret}', 'utf8')`],
  ])('are not read by %s', async (_, expression) => {
    const code = `/** @jsxImportSource ${chain.outside} */
    /// <reference path="${chain.secret}" />
    export default { name: 'Attack', version: '1', async run() { this.$emit({ found: ${expression(chain.secret)} }); } };`;
    const outcome = await chain.deploy(code);
    expect(outcome.refused?.code ?? outcome.error?.code).toBeDefined();
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });
});

// builder: A package that requires files of the server, by absolute and by climbing paths, and
// names them in its fields.
describe('package-reads-the-server', () => {
  const chain = supplyChain();
  const climb = '../../../../../../../..';

  it('gets an error where it asks, as for a file that does not exist', async () => {
    const paths = [chain.secret, `${climb}${chain.secret}`, `file://${chain.secret}`, `./${climb}${chain.outside}`];
    const tries = paths.map((path) => `() => require('${path}')`).join(', ');
    const index = `module.exports = [${tries}].map((read) => { try { return read(); } catch (error) { return error.code; } });`;
    await chain.publish({ name: 'reads', version: '1.0.0', files: { 'index.js': index } });
    const outcome = await chain.importing('reads');
    expect(outcome.events).toEqual([{ found: paths.map(() => 'MODULE_NOT_FOUND') }]);
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });

  it('finds no file by its fields', async () => {
    const { secret } = chain;
    const manifests: Record<string, Record<string, unknown>> = {
      'by-main': { main: climb + secret },
      'by-absolute-main': { main: secret },
      'by-exports': { exports: `./${climb}${secret}` },
      'by-pattern': { exports: { '.': `./*/${climb}${secret}` } },
      'by-module': { module: climb + secret, browser: { './index.js': secret } },
    };
    for (const [name, manifest] of Object.entries(manifests))
      await chain.publish({ name, version: '1.0.0', manifest, files: { 'other.js': '' } });
    const names = Object.keys(manifests);
    expect(await chain.refusals(...names)).toEqual(
      names.map((name) => `Cannot resolve "${name}": ${name}@1.0.0 has no file to import`),
    );
  });
});

// builder: Settings of tools in a package, .npmrc, tsconfig.json and the like, that name another
// registry and other files.
describe('settings-in-a-package', () => {
  const chain = supplyChain();

  it('are not read', async () => {
    const asked: string[] = [];
    const other = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end('{}');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    const paths = {
      compilerOptions: { baseUrl: chain.outside, paths: { inner: [chain.secret] } },
      extends: chain.secret,
    };
    const files = {
      '.npmrc': `registry=${url}\n//127.0.0.1/:_authToken=x\nscript-shell=/bin/sh\n`,
      '.yarnrc.yml': `npmRegistryServer: ${url}\n`,
      'tsconfig.json': JSON.stringify(paths),
      'jsconfig.json': JSON.stringify(paths),
      'npm-shrinkwrap.json': JSON.stringify({ packages: { '': { resolved: url } } }),
      'index.js': "module.exports = require('inner');",
    };
    const manifest = {
      dependencies: { inner: '*' },
      overrides: { inner: `file:${chain.outside}` },
      config: { registry: url },
    };
    await chain.publish({ name: 'settings', version: '1.0.0', manifest, files }, { name: 'inner', version: '1.0.0' });
    const outcome = await chain.importing('settings');
    await new Promise((resolve) => other.close(resolve));
    expect(outcome.events).toEqual([{ found: 'inner@1.0.0' }]);
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
    expect(asked).toEqual([]);
  });
});

// builder: Source map comments that name files of the server, in a component and in a package; an
// error would quote them.
describe('source-map-comments', () => {
  const chain = supplyChain();
  const component = "export default { name: 'Attack', version: '1', run() {} };";

  function inlineMap(): string {
    const map = { version: 3, sources: [chain.secret], names: [], mappings: 'AAAA', sourceRoot: chain.outside };
    return `data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;
  }

  it('are not followed from a component', async () => {
    const { secret } = chain;
    for (const url of [secret, `file://${secret}`, `data:/..${secret}`, inlineMap()]) {
      const code = `${component}\n//# sourceMappingURL=${url}\n/*@ sourceMappingURL=${url} */`;
      expect(await chain.save(code)).toEqual({});
    }
  });

  it('are not followed from a package', async () => {
    const index = `exports.fail = () => { throw new Error('thrown'); };\n//# sourceMappingURL=`;
    await chain.publish(
      { name: 'mapped', version: '1.0.0', files: { 'index.js': `${index}${chain.secret}` } },
      { name: 'inlined', version: '1.0.0', files: { 'index.js': `${index}${inlineMap()}` } },
    );
    const imports = "import mapped from 'mapped'; import inlined from 'inlined';\n";
    const outcome = await chain.deploy(imports + component.replace('{}', '{ (mapped.fail ?? inlined.fail)(); }'));
    expect(outcome).toMatchObject({ error: { message: 'thrown' } });
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
    expect(JSON.stringify(outcome)).not.toContain(chain.outside);
  });
});
