const REQUIRE = /\brequire\s*\(\s*(['"])([^'"\\\n]+)\1\s*\)/g;

/**
 * A CommonJS module whose code strict mode does not allow (`with`, a variable named `package`):
 * bundles are ES modules, so it is kept as text and becomes a function when it is loaded, as Node
 * makes one of it. What it requires by a literal is found by the bundler in the text around it.
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
