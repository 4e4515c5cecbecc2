import { isIntegrity } from './manifest.ts';
import type { PackageTree } from './resolve-tree.ts';

/** Whether it is a tree without faults: others are not stored. */
export function isStoredTree(value: unknown): value is PackageTree {
  if (!isObject(value)) return false;
  const { packages, roots } = value;
  return Array.isArray(packages) && packages.every(isPlaced) && isObject(roots) && Object.values(roots).every(isRoot);
}

function isPlaced(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { dir, name, version, tarball, integrity, root } = value;
  return areTexts([dir, name, version, tarball, root]) && isIntegrity(integrity);
}

function isRoot(value: unknown): boolean {
  return isObject(value) && value['ok'] === true && areTexts([value['from'], value['name'], value['version']]);
}

function areTexts(values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
