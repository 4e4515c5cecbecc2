import { BUILTIN_FUNCTION } from '../../guest/builtin-names.ts';

/** `require = createRequire(`, up to the name. */
const ALIAS = /([\w$]{1,100})\s*=\s*(?:\(0,\s*)?(?:[\w$]{1,100}\.)?$/;
const MAX_ALIAS_CHARS = 250;
const CALLED_AT_ONCE = /createRequire\w{0,100}\(import\.meta\.url\)\(\s*(['"])([^'"\\\n]{1,300})\1\s*\)/g;
const CALL = /(?<![\w$.])([\w$]{1,100})\(\s*(['"])([^'"\\\n]{1,300})\2\s*\)/g;

/**
 * The module `module` for a file of a package that calls `createRequire`, as bundlers write it into
 * what they make: the functions that this gives out know what the file requires by a literal, which
 * the bundler finds in here.
 */
export function moduleFor(text: string): string {
  const cases = requiredIn(text).map(
    (name) => `case ${JSON.stringify(name)}: return require(${JSON.stringify(name)});`,
  );
  return `
const builtin = ${BUILTIN_FUNCTION}('module');
const createRequire = (from) => {
  const other = builtin.createRequire(from);
  const made = (name) => {
    switch (name) { ${cases.join('\n')} }
    return other(name);
  };
  return Object.assign(made, other);
};
module.exports = Object.assign(function Module() {}, builtin, { createRequire });`;
}

function requiredIn(text: string): string[] {
  const aliases = new Set<string>();
  for (const { index } of text.matchAll(/createRequire/g)) {
    const alias = ALIAS.exec(text.slice(Math.max(0, index - MAX_ALIAS_CHARS), index))?.[1];
    if (alias !== undefined) aliases.add(alias);
  }
  const names = new Set<string>();
  for (const [, , name = ''] of text.matchAll(CALLED_AT_ONCE)) names.add(name);
  if (aliases.size === 0) return [...names];
  for (const [, alias = '', , name = ''] of text.matchAll(CALL)) if (aliases.has(alias)) names.add(name);
  return [...names];
}
