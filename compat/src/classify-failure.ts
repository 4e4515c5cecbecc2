const MAX_CAUSE_CHARS = 160;

const RULES: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/Cannot resolve "([^"]+)":? ?(.*)/, ([, name = '', reason = '']) => `import ${bare(name)}: ${firstClause(reason)}`],
  [/Could not resolve "([^"]+)"/, ([, name = '']) => `import ${bare(name)} not found`],
  [/failed to load: ([\s\S]*)/, ([, reason = '']) => `load: ${general(firstLine(reason))}`],
  [/^props\.[^.:\s]+(\.[\w.]+)?: (.*)/, ([, field = '', reason = '']) => `prop${field} ${general(firstLine(reason))}`],
  [/while it was loaded/, ({ input }) => `load: ${general(firstLine(input))}`],
];

/**
 * Common part of failures with the same cause: the message without names, numbers and quotations of
 * one component.
 */
export function classifyFailure(message: string): string {
  const [first = ''] = message.split('\n');
  const text = first.replace(/^[\w@./ -]+:\d+: /, '');
  for (const [pattern, name] of RULES) {
    const match = pattern.exec(text);
    if (match !== null) return name(match).slice(0, MAX_CAUSE_CHARS);
  }
  return general(text).slice(0, MAX_CAUSE_CHARS);
}

/** `@scope/name@^1.2/sub` → `@scope/name/sub`. */
function bare(specifier: string): string {
  return specifier.replace(/(.)@[^/]+/, '$1');
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}

function firstClause(text: string): string {
  return general(firstLine(text).split(';')[0] ?? '');
}

function general(text: string): string {
  return text.replaceAll(/\d+(\.\d+)*/g, '#').trim();
}
