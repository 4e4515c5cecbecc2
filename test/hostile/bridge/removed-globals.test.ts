// isolate: WebAssembly, SharedArrayBuffer and Atomics: by name, by constructors, by code made from text, by modules.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

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
