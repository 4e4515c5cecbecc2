// isolate: Call sites of stack traces, which name the functions and receivers of what is being called.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

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
