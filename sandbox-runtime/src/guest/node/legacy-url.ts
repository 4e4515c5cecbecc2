interface LegacyUrl extends Record<string, unknown> {
  parse(url: string): unknown;
}

/**
 * The functions of Node's `url`. Evaluated when they are asked for: they look for the URL class,
 * which is made after them.
 */
export function loadLegacyUrl(): Record<string, unknown> {
  const module = require('unenv/node/url') as LegacyUrl;
  withoutWarnings(() => module.parse('http://a:b'));
  return module;
}

// They say once in the log that they are out of fashion, which is of no use to the author of a
// component: this is that once.
function withoutWarnings(work: () => unknown): void {
  const target = globalThis.console as { warn: unknown };
  const { warn } = target;
  target.warn = () => undefined;
  work();
  target.warn = warn;
}
