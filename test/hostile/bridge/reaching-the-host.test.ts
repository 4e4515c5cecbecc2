import { describe, expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

// isolate: Constructors of everything that came over the bridge, down to Function, and code made
// with them.
describe('constructor-chains', () => {
  const world = hostile();

  it('every one of them is of this isolate, where there is nothing of the process', async () => {
    const emitted = await emitsOf(
      world,
      `this.db.set('key', { value: [1] });
const refused = await fetch('http://127.0.0.1:1/').catch((error) => error);
const timer = setTimeout(() => {}, 1);
const given = {
  this: this, event, nested: event.list, props: this.db, get: this.db.get, stored: this.db.get('key'), refused,
  cause: refused.cause, timer, clear: clearTimeout, log: console.log, emit: this.$emit, hash: await crypto.subtle.digest('SHA-256', new Uint8Array(1)),
  random: crypto.getRandomValues(new Uint8Array(1)), fetch, process, next: process.nextTick, builtin: process.getBuiltinModule('zlib').gzipSync('x'),
};
const found = [];
for (const [name, value] of Object.entries(given)) {
  if (value === undefined || value === null) continue;
  let at = value;
  for (let depth = 0; depth < 6 && at !== undefined && at !== null; depth++, at = at.constructor) {
    const Made = at.constructor?.constructor;
    if (typeof Made !== 'function') continue;
    if (Made !== Function && !(Made.prototype instanceof Function)) found.push(name + ': another Function');
    const scope = Made('return this')?.();
    if (scope !== undefined && scope !== globalThis) found.push(name + ': another global');
    if (Made('return typeof require')() !== 'undefined') found.push(name + ': require');
    if (Made('return typeof process.dlopen + typeof process.mainModule')() !== 'undefinedundefined') found.push(name + ': process');
  }
  if (typeof value === 'object' && !(value instanceof Object)) found.push(name + ': another Object');
}
this.$emit(found);`,
      { event: { list: [{}] } },
    );
    expect(emitted).toEqual([[]]);
  });
});

// isolate: Modules by name at run time: import(), require, module.createRequire and what hangs on
// import.meta.
describe('dynamic-import', () => {
  const world = hostile();

  it('there is nothing to load from', async () => {
    const emitted = await emitsOf(
      world,
      `const found = [];
const attempt = async (what, act) => { try { const got = await act(); if (got !== undefined) found.push(what); } catch {} };
for (const name of ['node:fs', 'fs', 'isolated-vm', '/etc/passwd', 'file:///etc/passwd', 'data:text/javascript,export default 1']) {
  await attempt('import ' + name, () => new Function('name', 'return import(name)')(name));
  await attempt('eval ' + name, () => (0, eval)('import(' + JSON.stringify(name) + ')'));
}
const { createRequire } = process.getBuiltinModule('module');
for (const name of ['isolated-vm', '/etc/passwd', './process-main.ts']) await attempt('require ' + name, () => createRequire('/')(name));
await attempt('mainModule', () => process.mainModule);
await attempt('dlopen', () => process.dlopen);
await attempt('binding', () => process.binding('fs').open);
await attempt('linked', () => process._linkedBinding);
this.$emit(found);`,
    );
    expect(emitted).toEqual([[]]);
  });
});

// isolate: A walk over every object there is from the globals and from `this`, prototypes, symbols
// and accessors included.
describe('everything-that-can-be-reached', () => {
  const world = hostile();

  it('finds no object of the library and no function of another realm', async () => {
    const emitted = await emitsOf(
      world,
      `const found = [];
const seen = new Set();
const names = ['applySyncPromise', 'applySync', 'applyIgnored', 'derefInto', 'copyInto', 'createContextSync', 'compileModule'];
const realm = [Function.prototype, Object.prototype, null];
const stack = [[globalThis, 'globalThis'], [this, 'this'], [event, 'event']];
const push = (value, path) => {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value)) return;
  seen.add(value);
  stack.push([value, path]);
};
for (const name of ['crypto', 'zlib', 'http', 'fs', 'stream', 'util', 'vm', 'v8', 'worker_threads', 'module', 'async_hooks', 'perf_hooks'])
  push(process.getBuiltinModule(name), name);
while (stack.length > 0 && seen.size < 40_000) {
  const [value, path] = stack.pop();
  for (const name of names) {
    let member;
    try { member = value[name] } catch { continue }
    if (typeof member === 'function') found.push(path + '.' + name);
  }
  let root = value;
  for (let depth = 0; depth < 50 && Object.getPrototypeOf(root) !== null; depth++) root = Object.getPrototypeOf(root);
  if (root !== Object.prototype && Object.getPrototypeOf(root) === null && Reflect.ownKeys(root).includes('hasOwnProperty'))
    found.push(path + ': an Object.prototype of another realm');
  push(Object.getPrototypeOf(value), path + '.__proto__');
  for (const key of Reflect.ownKeys(value)) {
    const own = Object.getOwnPropertyDescriptor(value, key);
    push(own?.get, path + '.get ' + String(key));
    push(own?.set, path + '.set ' + String(key));
    push(own?.value, path + '.' + String(key));
  }
}
this.$emit({ found, enough: seen.size > 2000, left: stack.length, own: [typeof __headwaterBoot, typeof global.ivm, Object.keys(process.env).length] });`,
    );
    expect(emitted).toEqual([{ found: [], enough: true, left: 0, own: ['undefined', 'undefined', 0] }]);
  });
});

// isolate: Modules of Node that would start processes, threads or debuggers, compile code
// elsewhere or open sockets.
describe('modules-that-reach-out', () => {
  const world = hostile();

  it('can be named, and do nothing', async () => {
    const emitted = await emitsOf(
      world,
      `const opened = (socket) => {
  socket.on('error', () => {}).on('connect', () => done.push('socket'));
  throw new Error('Nothing is open yet');
};
const acts = {
  child_process: (m) => m.execSync('id'), worker_threads: (m) => new m.Worker('1', { eval: true }), vm: (m) => new m.Script('1').runInNewContext(),
  inspector: (m) => new m.Session(), net: (m) => opened(m.connect(1)), tls: (m) => opened(m.connect(1)), dgram: (m) => m.createSocket('udp4'),
  cluster: (m) => m.fork(), wasi: (m) => new m.WASI(), repl: (m) => m.start(), v8: (m) => m.deserialize(Buffer.alloc(1)),
};
const done = [];
for (const [name, act] of Object.entries(acts)) try { act(process.getBuiltinModule(name)); done.push(name); } catch {}
await new Promise((resolve) => setTimeout(resolve, 50));
this.$emit(done);`,
    );
    expect(emitted).toEqual([[]]);
  });
});

// isolate: WebAssembly, SharedArrayBuffer and Atomics: by name, by constructors, by code made from
// text, by modules.
describe('removed-globals', () => {
  const world = hostile();

  it('are nowhere', async () => {
    const emitted = await emitsOf(
      world,
      `const names = ['WebAssembly', 'SharedArrayBuffer', 'Atomics'];
const AsyncFunction = (async () => {}).constructor;
const GeneratorFunction = (function* () {}).constructor;
const AsyncGenerator = (async function* () {}).constructor;
const found = [];
for (const name of names) {
  const code = 'typeof ' + name;
  const answers = [
    typeof globalThis[name], new Function('return ' + code)(), (0, eval)(code), await new AsyncFunction('return ' + code)(),
    new GeneratorFunction('yield ' + code)().next().value, (await new AsyncGenerator('yield ' + code)().next()).value,
    typeof process.getBuiltinModule('worker_threads')[name], typeof process.getBuiltinModule('vm').createContext({})[name],
    typeof Object.getOwnPropertyDescriptor(globalThis, name),
  ];
  if (answers.some((answer) => answer !== 'undefined')) found.push(name, answers);
}
for (const value of [new Uint8Array(1), new DataView(new ArrayBuffer(1)), Buffer.from('x')])
  if (Object.prototype.toString.call(value.buffer) !== '[object ArrayBuffer]') found.push('buffer');
if (typeof ShadowRealm !== 'undefined' || typeof gc !== 'undefined') found.push('realm');
this.$emit(found);`,
    );
    expect(emitted).toEqual([[]]);
  });
});

// isolate: Call sites of stack traces, which name the functions and receivers of what is being
// called.
describe('call-sites', () => {
  const world = hostile();

  it('none of the platform is handed out', async () => {
    const emitted = await emitsOf(
      world,
      `const seen = [];
Error.prepareStackTrace = (error, sites) => {
  for (const site of sites) {
    if (site.getFileName() === 'hw:component') continue;
    for (const value of [site.getFunction(), site.getThis()])
      if (value !== undefined && value !== globalThis && !String(value).includes('[native code]')) seen.push(String(site.getFunctionName()));
  }
  return '';
};
const look = () => { new Error('look').stack; return 1; };
this.$emit({ toJSON: look });
this.db.set('key', { toJSON: look });
console.log({ get [Symbol.toStringTag]() { return String(look()); } });
await Promise.resolve().then(look);
await new Promise((resolve) => setTimeout(() => resolve(look()), 1));
await new Promise((resolve) => queueMicrotask(() => resolve(look())));
await { then: (resolve) => resolve(look()) };
new Headers({ get a() { return String(look()); } });
[3, 2, 1].sort(look);
const callers = new Function(\`
  const seen = [];
  function look() {
    for (let at = look.caller, depth = 0; at && depth < 20; at = at.caller, depth++) seen.push(at.name + ':' + at.arguments.length);
    return 1;
  }
  return { look, seen };\`)();
this.$emit({ toJSON: callers.look });
this.db.set('key', { toJSON: callers.look });
console.log({ toString: callers.look });
seen.push(...callers.seen);
try { look.caller; } catch (error) { if (error.name !== 'TypeError') seen.push('caller'); }
this.$emit(seen);`,
    );
    expect(emitted).toEqual([1, 1, []]);
  });
});

// isolate: Every clock there is, read in a loop for its smallest step, as attacks on caches and
// branch predictors need it.
describe('coarse-clocks', () => {
  const world = hostile();

  it('none is finer than a millisecond', async () => {
    const emitted = await emitsOf(
      world,
      `const { performance: hooks } = process.getBuiltinModule('perf_hooks');
const clocks = {
  date: () => Date.now(), newDate: () => +new Date(), performance: () => performance.now(), hooks: () => hooks.now(),
  hrtime: () => { const [s, ns] = process.hrtime(); return s * 1e3 + ns / 1e6; }, bigint: () => Number(process.hrtime.bigint()) / 1e6,
  uptime: () => process.uptime() * 1e3, cpu: () => process.cpuUsage().user / 1e3, event: () => new Event('x').timeStamp,
  mark: () => performance.mark('x').startTime,
};
const steps = {};
for (const [name, read] of Object.entries(clocks)) {
  let last = read();
  let smallest = Infinity;
  for (let i = 0, until = Date.now() + 12; Date.now() < until || i < 10; i++) {
    const now = read();
    if (now !== last) smallest = Math.min(smallest, Math.abs(now - last));
    last = now;
  }
  if (smallest < 0.999) steps[name] = smallest;
}
this.$emit(steps);`,
    );
    expect(emitted).toEqual([{}]);
  });
});
