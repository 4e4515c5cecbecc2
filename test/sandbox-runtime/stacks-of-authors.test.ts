import { expect, test } from 'vitest';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

const TYPED = `interface Shape { a: string; b?: number }

function fail(shape: Shape): never {
  throw new TypeError('no ' + shape.a);
}

export default {
  name: 'Typed', version: '1',
  async run(this: any, event: { body: any }) {
    try {
      fail({ a: 'thing' } as Shape);
    } catch (error) {
      console.log((error as Error).stack);
      console.error(error);
      console.warn('wrapped', new Error('outer', { cause: error }));
      await null;
      throw new Error('end');
    }
  },
};
`;

test('a stack that the component reads or logs has the lines of its file', async () => {
  const { outcome, host } = await sandbox.run(TYPED);
  const [read = '', shown = '', wrapped = ''] = host.messages();
  expect(read.split('\n').slice(0, 3)).toEqual([
    'TypeError: no thing',
    expect.stringMatching(/^ {4}at fail \(component\.[jt]s:4:9\)$/),
    expect.stringMatching(/^ {4}at .*\(component\.[jt]s:11:7\)$/),
  ]);
  expect(shown).toBe(read);
  expect(wrapped).toMatch(/component\.[jt]s:15:31\)/);
  expect(wrapped).toMatch(/at fail \(component\.[jt]s:4:9\)/);
  expect(outcome).toMatchObject({
    ok: false,
    fault: { stack: expect.stringMatching(/^end\n.*component\.[jt]s:17:13\)/) },
  });
  for (const text of [read, shown, wrapped]) expect(text).not.toContain('hw:component');
});

test.each([
  ['in a timer', `await new Promise((done) => setTimeout(() => { console.log(new Error('x').stack); done(); }, 1));`],
  ['of captureStackTrace', `const o = {}; Error.captureStackTrace(o); console.log(o.stack);`],
  ['of an error of the platform', `try { null.x; } catch (error) { console.log(error.stack); }`],
  ['of a rejection', `await Promise.reject(new Error('x')).catch((error) => console.log(error.stack));`],
])('so has a stack %s', async (_, body) => {
  const { host } = await sandbox.run(withRun(body));
  expect(host.messages()[0]).toMatch(/component\.js:2:\d+/);
  expect(host.messages()[0]).not.toContain('hw:component');
});

test('an unhandled rejection, and an error while loading, keep their frames', async () => {
  const unhandled = await sandbox.run(
    withRun(`Promise.reject(new Error('lost')); await new Promise((d) => setTimeout(d, 50));`),
  );
  expect(unhandled.outcome).toMatchObject({ fault: { stack: expect.stringMatching(/component\.js:2:\d+/) } });
  const loading = await sandbox.run(withRun('', `throw new Error('at once');`));
  expect(loading.outcome).toMatchObject({ fault: { stack: expect.stringMatching(/component\.js:1:\d+/) } });
});

test('so has a stack of a component as large as one may be, read in one pass over its map', async () => {
  const line = (n: number) =>
    `function f${n}(a, b) { if (a > b) return g(a, ${n}) + g(b); return [a, b].map((x) => x * ${n}); }\n`;
  const head = 'function g(a) { return a; }\n';
  const count = Math.floor((1024 * 1024 - 1_000) / line(10_000).length);
  const code = `${head}${Array.from({ length: count }, (_, n) => line(n)).join('')}
function deep(left) { if (left === 0) throw new Error('here'); return deep(left - 1); }
${withRun(`try { deep(8); } catch (error) { console.log(error.stack); }`)}`;
  const { host } = await sandbox.run(code);
  const [stack = ''] = host.messages();
  expect(stack).not.toContain('hw:component');
  expect(stack.split('\n').slice(1, 9)).toEqual([
    expect.stringContaining(`component.js:${count + 3}:`),
    ...Array.from({ length: 7 }, () => expect.stringContaining(`component.js:${count + 3}:`)),
  ]);
});

test('the property is as in Node: replaced, called with call sites, and put back', async () => {
  const { host } = await sandbox.run(
    withRun(`const before = Error.prepareStackTrace;
      Error.prepareStackTrace = (_, sites) => sites;
      const [site] = new Error('x').stack;
      Error.prepareStackTrace = before;
      console.log(before.name, site.getFunctionName(), new Error('y').stack.includes('component.js:6'));
      console.log(Object.keys(Error).join(), typeof before);`),
  );
  expect(host.messages()).toEqual(['ErrorPrepareStackTrace run true', 'stackTraceLimit function']);
});

/** A component that patches the functions of the mapping affects only its own stacks. */
test.each([
  `String.prototype.charCodeAt = () => 57; String.prototype.indexOf = () => 0;`,
  `Map.prototype.get = () => { throw new Error('get'); }; Array.prototype.sort = null;`,
  `Array.prototype.entries = () => { throw new Error('entries'); };`,
  `Object.defineProperty(Object.prototype, 'line', { get() { throw new Error('line'); } });`,
  `JSON.parse = () => { throw new Error('parse'); };`,
  `Error.prototype.toString = () => { throw new Error('toString'); };`,
  `delete Error.prepareStackTrace;`,
  `Error.prepareStackTrace = () => { throw new Error('mine'); };`,
  `Error.prepareStackTrace = () => '    at x (/etc/passwd:1:1)\\n'.repeat(1e5);`,
])('%s is no way to lose the error of a run', async (attack) => {
  const { outcome } = await sandbox.run(withRun(`${attack}\nthrow new Error('mine is told');`));
  expect(outcome.ok).toBe(false);
  const text = outcome.ok ? '' : `${outcome.fault.message} ${outcome.fault.stack ?? ''}`;
  expect(text).toMatch(/mine|read/);
  expect(text).not.toContain('/etc/passwd');
  expect(text.length).toBeLessThan(20_000);
  const after = await sandbox.run(withRun(`console.log(new Error('x').stack);`));
  expect(after.host.messages()[0]).toContain('component.js:2:');
});

test('endless reads of stacks, and endless stacks, count on the clock of the run', async () => {
  const loop = await sandbox.run(withRun(`for (;;) new Error('x').stack;`), { cpuMs: 300 });
  expect(loop.outcome).toMatchObject({ ok: false, fault: { code: 'CPU_LIMIT' } });
  const deep = await sandbox.run(
    withRun(`Error.stackTraceLimit = Infinity;
      const down = (left) => { if (left === 0) throw new Error('bottom'); down(left - 1); };
      try { down(5_000); } catch (error) { console.log(error.stack.split('component.js').length > 5_000); }`),
  );
  expect(deep.host.messages()).toEqual(['true']);
});
