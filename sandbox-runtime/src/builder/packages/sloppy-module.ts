const REQUIRE = /\brequire\s*\(\s*(['"])([^'"\\\n]+)\1\s*\)/g;

/**
 * Wraps a CommonJS module that is invalid in strict mode (`with`, a variable named `package`).
 * Bundles are ES modules, so its text becomes a function at load time, as in Node. The bundler
 * finds its literal requires in the code around it.
 */
export function sloppyModule(text: string): string {
  const names = new Set([...text.matchAll(REQUIRE)].map(([, , name]) => JSON.stringify(name)));
  const cases = [...names].map((name) => `case ${name}: return require(${name});`).join('\n');
  return `
const requireKnown = (name) => {
  switch (name) { ${cases} }
  throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: 'MODULE_NOT_FOUND' });
};
new Function('exports', 'require', 'module', '__filename', '__dirname', ${JSON.stringify(text)})
  .call(module.exports, exports, requireKnown, module, '/component.js', '/');`;
}
