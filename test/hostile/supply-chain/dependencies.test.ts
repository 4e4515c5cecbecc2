import { describe, expect, it } from 'vitest';
import { refusedWith, supplyChain } from '../../support/hostile-supply-chain.ts';
import type { PackageSpec } from '../../support/package-registry.ts';

// builder: Packages that need each other, themselves, and each other as peers.
describe('cyclic-dependencies', () => {
  const chain = supplyChain();

  it('are placed once each, and evaluated as Node does', async () => {
    await chain.publish(
      {
        name: 'ping',
        version: '1.0.0',
        manifest: { dependencies: { pong: '*', ping: '*' }, peerDependencies: { pong: '*', peer: '*' } },
        files: { 'index.js': "exports.pong = require('pong').name; exports.self = require('ping') === exports;" },
      },
      {
        name: 'pong',
        version: '1.0.0',
        manifest: { dependencies: { ping: '*' }, peerDependencies: { ping: '*' } },
        files: { 'index.js': "exports.name = 'pong'; require('ping');" },
      },
      { name: 'peer', version: '1.0.0', manifest: { peerDependencies: { ping: '*', peer: '*' } } },
    );
    expect((await chain.importing('ping')).events).toEqual([{ found: { pong: 'pong', self: true } }]);
  });
});

// builder: Dependencies of a dependency on files, repositories and addresses.
describe('dependencies-off-the-registry', () => {
  const chain = supplyChain();

  const KINDS: Record<string, string> = {
    alias: 'npm:../../x@1',
    file: 'file:../../secret',
    folder: '../x',
    git: 'git+https://127.0.0.1/x.git',
    github: 'github:owner/name',
    http: 'http://127.0.0.1/x.tgz',
    link: 'link:/etc',
    short: 'owner/name',
    workspace: 'workspace:*',
  };

  it('are refused by name, with the way to them', async () => {
    for (const [kind, wanted] of Object.entries(KINDS)) {
      await chain.publish(
        { name: `top-${kind}`, version: '1.0.0', manifest: { dependencies: { [`middle-${kind}`]: '^1' } } },
        { name: `middle-${kind}`, version: '1.0.0', manifest: { dependencies: { bad: wanted } } },
      );
    }
    const why = 'only versions in the registry can be used, no files, addresses or repositories';
    expect(await chain.refusals(...Object.keys(KINDS).map((kind) => `top-${kind}`))).toEqual(
      Object.entries(KINDS).map(
        ([kind, wanted]) =>
          `Cannot resolve "top-${kind}": top-${kind}@1.0.0 → middle-${kind}@1.0.0 → bad@${wanted}: ${why}`,
      ),
    );
  });
});

// builder: A package with thirty thousand dependencies, and a component with thousands of imports,
// each a request to the registry.
describe('endless-dependencies', () => {
  const chain = supplyChain();

  it('is refused before the registry is asked for them', async () => {
    const dependencies = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`needed-${i}`, '*']));
    await chain.publish({ name: 'needy', version: '1.0.0', manifest: { dependencies } });
    expect(refusedWith(await chain.importing('needy'))).toBe(
      'Cannot resolve "needy": it has more than 20000 dependencies',
    );
    expect(chain.registry.requests.filter((path) => path.startsWith('/needed'))).toEqual([]);
  });

  it('is refused where the component itself imports too many, before any is looked at', async () => {
    const code = Array.from({ length: 1_001 }, (_, i) => `import'needed-${i}@1.0.0-${i}';`).join('');
    expect(refusedWith(await chain.save(`${code}export default {};`))).toBe(
      'The component imports 1001 packages; at most 1000 are allowed',
    );
    expect(chain.registry.requests.filter((path) => path.startsWith('/needed'))).toEqual([]);
  });
});

// builder: Twelve packages whose versions need each other so that the tree doubles with every
// level.
describe('exponential-dependencies', () => {
  const chain = supplyChain();
  const LEVELS = 12;

  /**
   * Each level needs both packages of the next in versions that no other level has asked for: none
   * can be shared.
   */
  function packagesOf(level: number): PackageSpec[] {
    return Array.from({ length: 2 ** Math.min(level, 6) }, (_, index) => index).flatMap((version) =>
      ['left', 'right'].map((side) => ({
        name: `${side}-${level}`,
        version: `${version}.0.0`,
        manifest: {
          dependencies: {
            [`left-${level + 1}`]: `${(version * 2) % 64}.0.0`,
            [`right-${level + 1}`]: `${(version * 2 + 1) % 64}.0.0`,
          },
        },
      })),
    );
  }

  it('is given up at the bound of packages', async () => {
    const levels = Array.from({ length: LEVELS }, (_, level) => packagesOf(level)).flat();
    await chain.publish(...levels);
    expect(refusedWith(await chain.importing('left-0@0.0.0'))).toMatch(
      /it needs more than 1000 packages|no such package/,
    );
  });
});

// builder: Tags, versions, exports and dependencies named as what every object has: constructor,
// `__proto__`, toString.
describe('names-of-object-prototype', () => {
  const chain = supplyChain();

  it('mean nothing beyond themselves', async () => {
    await chain.publish({ name: 'tagged', version: '1.0.0' });
    chain.registry.instead = (path, response) => {
      if (path !== '/tagged') return false;
      response.end(
        '{"dist-tags":{"latest":"constructor","__proto__":"1.0.0"},"versions":{"__proto__":{"dist":{}},"x":{}}}',
      );
      return true;
    };
    expect(refusedWith(await chain.importing('tagged'))).toContain('Cannot resolve "tagged"');
    expect(refusedWith(await chain.importing('tagged@constructor'))).toContain('Cannot resolve "tagged@constructor"');
    chain.registry.instead = undefined;
    await chain.publish(
      {
        name: 'polluting',
        version: '1.0.0',
        manifest: JSON.parse(
          '{"exports":{"__proto__":{"import":"./x.js"},".":{"__proto__":"./x.js","default":"./index.js"}}}',
        ),
      },
      { name: 'constructor', version: '1.0.0' },
    );
    expect((await chain.importing('polluting')).events).toEqual([{ found: 'polluting@1.0.0' }]);
    expect((await chain.importing('constructor')).events).toEqual([{ found: 'constructor@1.0.0' }]);
    for (const name of ['constructor@constructor', 'polluting/toString', 'polluting/constructor'])
      expect(refusedWith(await chain.importing(name))).toContain(`Cannot resolve "${name}"`);
  });
});

// builder: Install scripts of a package that would write a file on the server.
describe('install-scripts', () => {
  const chain = supplyChain();

  it('runs none of them, and the package is used as it came', async () => {
    const script = `node -e "require('fs').writeFileSync('${chain.outside}/proof', '')"`;
    const scripts = { preinstall: script, install: script, postinstall: script, prepare: script, prepublish: script };
    const files = { 'index.js': "module.exports = 'harmless';", 'binding.gyp': '{}' };
    await chain.publish({ name: 'scripted', version: '1.0.0', manifest: { scripts, hasInstallScript: true }, files });
    expect((await chain.importing('scripted')).events).toEqual([{ found: 'harmless' }]);
    await chain.expectUntouched();
  });
});

// builder: A package with a NUL character in a regular expression, which the bundler leaves as it
// is and the database refuses.
describe('nul-in-a-package', () => {
  const chain = supplyChain();

  it('is an error of the component, not one of the server', async () => {
    await chain.publish({ name: 'nul', version: '1.0.0', files: { 'index.js': 'module.exports = String(/a\0b/);' } });
    expect(refusedWith(await chain.importing('nul'))).toBe('The code with its packages contains a NUL character');
  });
});

// builder: A package in the registry under the name of one that comes with the server, newer and
// asked for by its version.
describe('package-of-the-server', () => {
  const chain = supplyChain();

  it('is never taken', async () => {
    await chain.publish(
      {
        name: '@headwater/types',
        version: '9.9.9',
        files: { 'index.js': 'exports.defineSource = () => "taken over";' },
      },
      {
        name: 'passes-it-on',
        version: '1.0.0',
        manifest: { dependencies: { '@headwater/types': '9.9.9' } },
        files: { 'index.js': 'exports.defineSource = require("@headwater/types").defineSource;' },
      },
    );
    for (const name of ['@headwater/types', '@headwater/types@9.9.9', '@headwater/types@latest', 'passes-it-on']) {
      const { events } = await chain.deploy(`import { defineSource } from '${name}';
      export default { name: 'Asks', version: '1', run() { this.$emit(defineSource('given')); } };`);
      expect({ name, events }).toEqual({ name, events: ['given'] });
    }
  });
});
