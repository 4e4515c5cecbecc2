/*
 * Symbols of explicit resource management, which Node adds to V8's. This file must be imported
 * first: packages read the symbols when they are evaluated, and would otherwise take `undefined` as
 * a name.
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
