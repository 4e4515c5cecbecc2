// isolate: What the mapping of stacks uses of the language, taken apart, and call sites that are
// none.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

/**
 * Each is done before the stack of an error is read, which asks for the source map and looks
 * through it.
 */
it.each([
  `Object.defineProperty(Object.prototype, 'sources', { get() { return ['/etc/passwd']; }, set() {} });`,
  `Object.defineProperty(Array.prototype, 0, { get() { throw 1; }, set() { throw 1; } });`,
  `Int32Array.prototype.set = () => { throw 1; }; Int8Array.from = null;`,
  `const { prepareStackTrace: map } = Error; for (const sites of [null, 1, [null], [{ toString: () => 'hw:component:9:9' }],
     ['hw:component:' + '9'.repeat(1e6) + ':1'], ['hw:component:1:1'.repeat(1e5)], new Array(1e5).fill('hw:component:1:9')])
     try { map({}, sites); } catch {}`,
  `Error.prepareStackTrace = (error, sites) => { Object.getPrototypeOf(sites[0]).toString = () => { throw 1; }; return ''; };
     new Error('x').stack; delete Error.prepareStackTrace;`,
])('%s harms nobody', async (attack) => {
  const ran = await world.unharmed(() =>
    world.attack(`const wanted = new Error('wanted'); try { ${attack}\nvoid wanted.stack; } catch {}\nthrow wanted;`),
  );
  expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
  expect(`${ran.error?.message} ${ran.error?.stack ?? ''}`).not.toContain('/etc/passwd:');
  expect(JSON.stringify(ran).length).toBeLessThan(50_000);
});
