import { describe, expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

// isolate: Arrays of numbers, filled and kept.
describe('arrays', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `const kept = [];
for (;;) kept.push(new Array(10_000).fill(1.5));`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: Recursion without end: in functions, in JSON, in a regular expression, in toString.
describe('deep-recursion', () => {
  const world = hostile({ ownAccounts: true });

  const RECURSIONS = {
    function: 'const f = () => f(); f();',
    json: 'let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; JSON.stringify(deep);',
    regex: `/^(?:a|b|(?:c))*$/.test('a'.repeat(1e7));`,
    toString: 'const a = {}; a.toString = () => String(a); throw new TypeError(a);',
    proxy: 'let proxy = {}; for (let i = 0; i < 1e5; i++) proxy = new Proxy(proxy, {}); proxy.x;',
  };

  it('is an error of the component, and its isolate goes on', async () => {
    const runs = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(
        `export default { name: 'Deep', version: '1', run({ code }) { this.$emit('before'); new Function(code)(); } };`,
      );
      const outcomes = [];
      for (const code of Object.values(RECURSIONS)) outcomes.push(await world.run(id, { code }));
      return outcomes;
    });
    for (const { error } of runs) {
      expect(error).toMatchObject({
        code: 'COMPONENT_ERROR',
        message: 'RangeError: Maximum call stack size exceeded',
      });
    }
    expect(runs.at(-1)?.events).toHaveLength(runs.length);
  });
});

// isolate: Text of some megabytes that is a hundred as objects.
describe('json-bomb', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(world, `JSON.parse('[' + '{"a":[]},'.repeat(1.5e6) + '1]');`);
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: Memory that stays behind after every run, in the isolate that the next one is given.
describe('leak-in-a-warm-isolate', () => {
  const world = hostile({ ownAccounts: true });
  /** Each keeps six megabytes. */
  const RUNS = 8;

  it('runs go on in a new isolate once it is full, and none of them fails', async () => {
    await world.limit({ memoryMb: 32 });
    const runs = await world.unharmed(async () => {
      const { id } = await world.attacker.deploy(`
      const kept = [];
      export default { name: 'Leak', version: '1', run() {
        kept.push(Array.from({ length: 700_000 }, (_, i) => i + 0.5));
        this.$emit(kept.length);
      } };`);
      const outcomes = [];
      for (let i = 0; i < RUNS; i++) outcomes.push(await world.run(id));
      return outcomes;
    });
    expect(runs.map((run) => run.error)).toEqual(Array(RUNS).fill(undefined));
    // All of them do not fit into one isolate: a new one counts from one.
    const counted = runs.at(-1)?.events as number[];
    expect(counted).toHaveLength(RUNS);
    expect(Math.max(...counted)).toBeLessThan(RUNS);
  });
});

// isolate: A chain of objects without end.
describe('linked-objects', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `let last = null;
for (let i = 0; ; i++) last = { last, i };`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// process: A Map that grows without end: V8 gives up on the whole process at its largest table.
describe('map-growth', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `const map = new Map();
for (let i = 0; ; i++) map.set(i, i);`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// process: A Set of objects that grows without end.
describe('set-growth', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `const set = new Set();
for (;;) set.add({ text: 'x'.repeat(100) });`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// process: Small arrays held by closures, in a loop that goes on after V8 has ended its isolate, a
// gigabyte a second.
describe('small-arrays-and-closures', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `const kept = [];
for (;;) {
  const big = new Array(1000).fill(1.1);
  kept.push(() => big);
}`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: Symbols of the registry, which nothing ever frees.
describe('symbol-registry', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(world, `for (let i = 0; ; i++) Symbol.for(\`\${i}\${'x'.repeat(1000)}\`);`);
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: Promises that are awaited and never settle.
describe('unsettled-promises', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `const never = new Promise(() => {});
for (;;) void (async () => { const own = new Array(100).fill(1.5); await never; return own; })();`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: A WeakMap whose keys are all kept.
describe('weak-map-growth', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `const map = new WeakMap();
const keys = [];
for (;;) {
  const key = {};
  keys.push(key);
  map.set(key, new Array(100).fill(1.1));
}`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// process: Array.prototype.fill over 2^32 elements: one builtin that neither ends nor hears that
// it is to end.
describe('fill-of-2-32-elements', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(world, 'new Array(2 ** 32 - 1).fill(7);');
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// process: Array.prototype.fill on an object that says it has 2^53 elements.
describe('fill-of-2-53-properties', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(world, 'Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 1);');
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});
