/*
 * The symbols of explicit resource management, which Node adds to V8's. Imported before everything
 * else, for what it does: packages read them when they are evaluated, and would take `undefined`
 * for a name.
 */
for (const name of ['dispose', 'asyncDispose']) {
  if (name in Symbol) continue;
  Object.defineProperty(Symbol, name, {
    value: Symbol(`Symbol.${name}`),
    writable: false,
    enumerable: false,
    configurable: false,
  });
}
