import { FUNCTION_MARK } from '../bridge/function-mark.ts';
import { isGenerator } from './load-component.ts';
import type { GuestLimits } from '../bridge/guest-limits.ts';
import { stringifyJson } from './intrinsics.ts';
import { limitError } from './limit-error.ts';
import { resolveProps } from './resolve-prop.ts';

type PropBounds = Pick<GuestLimits, 'maxPropDepth' | 'maxPropDefinitionValues'>;

/** There are three. */
const MAX_HOOKS_SHOWN = 100;

/**
 * The default export as plain data. Functions become true under `hooks`, `methods` and `run`. Props
 * lose them, except `options`, where true means that the component computes them. A prop with an
 * app's `propDefinition` gets the app's fields, overridden by its own. The host validates the
 * result. Throws LimitError if it exceeds the limits.
 */
export function outlineComponent(exported: unknown, limits: PropBounds & Pick<GuestLimits, 'maxOutlineChars'>): string {
  if (typeof exported !== 'object' || exported === null) {
    return stringifyJson({ exported: exported === null ? 'null' : typeof exported });
  }
  const { name, key, version, type, description, dedupe, run, hooks, props, additionalProps } = exported as Record<
    string,
    unknown
  >;
  const plain = (value: unknown) => plainCopy(value, limits);
  const outline = stringifyJson({
    exported: 'object',
    name: plain(name),
    key: plain(key),
    version: plain(version),
    type: plain(type),
    description: plain(description),
    dedupe: plain(dedupe),
    run: isGenerator(run) ? 'generator function' : typeof run,
    hooks: typeofEach(hooks),
    additionalProps: typeof additionalProps,
    props: plain(resolveProps(props)),
  });
  const { maxOutlineChars: value } = limits;
  if (outline.length <= value) return outline;
  throw limitError({ name: 'maxOutlineChars', value, used: outline.length });
}

/**
 * Prop definitions as plain data, as `outlineComponent` shows them. Throws LimitError if they are
 * too large or too deep.
 */
export function outlineProps(props: unknown, bounds: PropBounds): unknown {
  return plainCopy(resolveProps(props), bounds);
}

function typeofEach(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === undefined ? undefined : typeof value;
  const members = Object.entries(value).slice(0, MAX_HOOKS_SHOWN);
  return Object.fromEntries(members.map(([name, member]) => [name, typeof member]));
}

/** Fields of a prop, at this depth below `props`, that are never functions. */
const FIELD_DEPTH = 2;
const VALUE_FIELDS = ['label', 'description', 'default', 'optional', 'min', 'max', 'secret', 'hidden', 'content'];

/** Other functions are of no use outside, and left out. */
function markOf(key: string, depth: number): unknown {
  return depth === FIELD_DEPTH && VALUE_FIELDS.includes(key) ? FUNCTION_MARK : undefined;
}

function plainCopy(value: unknown, { maxPropDepth, maxPropDefinitionValues }: PropBounds): unknown {
  let nodes = 0;
  const copy = (item: unknown, depth: number, key: string): unknown => {
    nodes += 1;
    if (depth > maxPropDepth) throw limitError({ name: 'maxPropDepth', value: maxPropDepth, used: depth });
    if (nodes > maxPropDefinitionValues)
      throw limitError({ name: 'maxPropDefinitionValues', value: maxPropDefinitionValues, used: nodes });
    if (typeof item === 'function') return key === 'options' ? true : markOf(key, depth);
    if (typeof item === 'bigint' || typeof item === 'symbol') return undefined;
    if (typeof item !== 'object' || item === null) return item;
    if (Array.isArray(item)) return item.map((member) => copy(member, depth + 1, '') ?? null);
    const copied: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(item)) {
      const kept = copy(member, depth + 1, name);
      if (kept !== undefined)
        Object.defineProperty(copied, name, { value: kept, enumerable: true, configurable: true, writable: true });
    }
    return copied;
  };
  return copy(value, 0, '');
}
