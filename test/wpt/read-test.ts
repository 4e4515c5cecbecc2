import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

/**
 * One page of a test file: the harness, the file with the scripts before it that it names, and the
 * query of its variant.
 */
export interface WptTest {
  path: string;
  search: string;
  harness: string;
  code: string;
}

/** Reads an `.any.js` file with the scripts of its META lines. One result per variant. */
export function readTests(checkout: string, path: string): WptTest[] {
  const code = read(checkout, path);
  const metas = [...code.matchAll(/^\/\/ META: (\w+)=(.*?)\s*$/gm)].map(([, key, value]) => ({
    key,
    value: value ?? '',
  }));
  const included = metas.filter((meta) => meta.key === 'script').map((meta) => resolveScript(path, meta.value));
  const harness = read(checkout, 'resources/testharness.js');
  const whole = [...included.map((file) => read(checkout, file)), code].join('\n;');
  const variants = metas.filter((meta) => meta.key === 'variant').map((meta) => meta.value);
  return (variants.length === 0 ? [''] : variants).map((search) => ({ path, search, harness, code: whole }));
}

function resolveScript(from: string, script: string): string {
  const [file = ''] = script.split('?');
  return file.startsWith('/') ? file.slice(1) : posix.join(posix.dirname(from), file);
}

function read(checkout: string, path: string): string {
  return readFileSync(posix.join(checkout, path), 'utf8');
}
