import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bundlePlain } from '../../sandbox-runtime/src/builder/bundle-component.ts';
import { BUILTIN_NAMES, UNAVAILABLE_NAMES } from '../../sandbox-runtime/src/guest/builtin-names.ts';
import { namesOf, namesOfInstances } from '../support/names-of.ts';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

/** Aliases of others, of which one in Node warns that it is out of fashion. */
const SKIPPED = new Set(['sys', 'punycode', 'constants', 'process']);
const MODULES = BUILTIN_NAMES.filter(
  (name) => !(UNAVAILABLE_NAMES as readonly string[]).includes(name) && !SKIPPED.has(name),
);

/** Node's names of wrappers and anonymous functions: a better name in the guest does no harm. */
const NO_NAMES =
  /^(?:|get|set|bound .*|deprecated|wrapped\w+|(?:async|sync)BufferWrapper|(?:read|write)(?:Float|Double)\w+|node\w+)$/i;

/**
 * Functions of the packages that stand in for Node's, and those of one class that Node inherits
 * from another.
 */
const OTHERS =
  /^node:(?:path[^ ]*\.(?:_makeLong|matchesGlob)$|string_decoder\.|crypto\.ECDH\.prototype\.|\S+ \(extends\)$|timers\/promises\.scheduler|http\.OutgoingMessage \()|^MessagePort \(extends\)$/;

async function inNode(code: string): Promise<Record<string, string>> {
  const script = `(async () => { process.stdout.write(JSON.stringify(await (${code}))) })()`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout) as Record<string, string>;
}

async function inGuest(code: string): Promise<Record<string, string>> {
  const { outcome, host } = await sandbox.run(
    withRun(`const all = Object.entries(await (${code}));
      for (let at = 0; at < all.length; at += 500) this.$emit(all.slice(at, at + 500));`),
  );
  if (!outcome.ok) throw new Error(`${outcome.fault.message}\n${outcome.fault.stack}`);
  return Object.fromEntries(host.data().flat() as [string, string][]);
}

test('globals and modules of Node, their statics and their methods have the names that they have in Node', async () => {
  const code = `(${namesOf.toString()})(${JSON.stringify(MODULES)})`;
  const [guest, node] = await Promise.all([inGuest(code), inNode(code)]);
  const known = Object.entries(guest).filter(([path]) => path in node);
  const wrong = known.filter(
    ([path, name]) => name !== node[path] && !NO_NAMES.test(node[path] as string) && !OTHERS.test(path),
  );
  expect(wrong.map(([path, name]) => `${path}: ${name} instead of ${node[path]}`)).toEqual([]);
  expect(known.length).toBeGreaterThan(2_500);
  // A bundler leaves such marks in names. Node's own name does not matter here.
  const isMangled = (path: string, name: string): boolean => /^_|[a-z][2-7]$/.test(name) && !path.endsWith(`.${name}`);
  expect(known.filter(([path, name]) => name !== node[path] && isMangled(path, name))).toEqual([]);
});

test('each object has a class with the name that it has in Node', async () => {
  const code = `(${namesOfInstances.toString()})()`;
  const [guest, node] = await Promise.all([inGuest(code), inNode(code)]);
  expect(guest).toEqual(node);
});

test('classes of one name in two modules of a component keep it, and frames of their methods too', async () => {
  const files = {
    'main.js': `import { Client } from './a.js'; import { make } from './b.js';
      export default { name: 'x', version: '1', run() { const [a, b] = [new Client(), make()];
        this.$emit([a.constructor.name, b.constructor.name, b.self.name, b.fetchAll.name, b.frame().includes('Client.frame')]); } };`,
    'a.js': `export class Client { self = Client; }`,
    'b.js': `class Client { self = Client; fetchAll = fetchAll; frame() { return new Error('x').stack } }
      function fetchAll() {} export const make = () => new Client();`,
  };
  const outcome = await bundlePlain({ entry: 'main.js', files });
  if (outcome.kind !== 'bundled') throw new Error(JSON.stringify(outcome));
  const { host } = await sandbox.run(outcome.bundle);
  expect(host.data()).toEqual([['Client', 'Client', 'Client', 'fetchAll', true]]);
});
