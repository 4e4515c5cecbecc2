import type { ExpressionPath } from '@headwater/shared/expressions';
import { ownKeys } from './intrinsics.ts';
import type { StepData } from './step-data.ts';

/** Values that expressions can use. */
export interface TemplateScope {
  steps: Pick<StepData, 'all' | 'holding'>;
  env: Readonly<Record<string, string>>;
}

const MAX_NAMES = 5;
const MAX_NAME_CHARS = 40;
const hasOwn = Object.hasOwn;

/** Whether it begins with a name that expressions have. */
export function isPathOf({ root }: ExpressionPath): boolean {
  return root === 'steps' || root === 'env';
}

/**
 * Walks a path through data, over own properties alone. Throws TypeError with the first part that
 * is not there, unless it is one that may be missing: then the whole path is undefined, as with
 * `?.`.
 */
export function readPath({ root, parts }: ExpressionPath, { steps, env }: TemplateScope): unknown {
  const [first] = parts;
  let value: unknown = root === 'env' ? env : first === undefined ? steps.all() : steps.holding(first.key);
  let walked = root;
  for (let index = 0; index < parts.length; index += 1) {
    const { key, isOptional, text } = parts[index] as ExpressionPath['parts'][number];
    const isThere = value !== undefined && value !== null && hasOwn(value, key);
    if (!isThere) {
      if (isOptional || parts[index + 1]?.isOptional === true) return undefined;
      throw new TypeError(describeMissing(walked, value, key));
    }
    value = (value as Record<string, unknown>)[key];
    walked += text;
  }
  return value;
}

function describeMissing(walked: string, value: unknown, key: string): string {
  if (value === null) return `\`${walked}\` is null`;
  const names = typeof value === 'object' ? ownKeys(value as object) : [];
  let has = 0;
  let list = '';
  // By hand: a component could have changed the methods of lists, and is not to see what another
  // step was given.
  for (let index = 0; index < names.length && has < MAX_NAMES; index += 1) {
    const name = names[index] as string;
    if (name.length > MAX_NAME_CHARS) continue;
    list += `${has === 0 ? '' : ', '}\`${name}\``;
    has += 1;
  }
  const known = has === 0 ? '' : ` (it has ${list}${names.length > has ? ' and more' : ''})`;
  return `\`${walked}\` has no \`${key}\`${known}`;
}
