import { applyFunction } from './intrinsics.ts';

/** A prop of a component with the fields it takes over from an app. Functions are still in it. */
export interface ResolvedProp {
  definition: Record<string, unknown>;
  /**
   * Present only with a `propDefinition`. `from`: the app whose `options` the prop uses, unless it
   * has its own. `inputs`: input values; a later one wins.
   */
  origin: { from: object; inputs: readonly unknown[]; givesOptions: boolean } | undefined;
}

/** A definition may lead to another app's, and that one further: real ones do once or twice. */
const MAX_CHAIN = 8;

/** Valid names that are reported for a broken `propDefinition`. */
const MAX_SHOWN_NAMES = 50;

/**
 * Merges a prop over the app's definition. In `propDefinition`, the slug replaces the app:
 * otherwise dozens of props would each repeat it. A broken link gets the valid names as third
 * member, for the check outside. Undefined for an invalid definition.
 */
export function resolveProp(prop: unknown): ResolvedProp | undefined {
  return resolve(prop, MAX_CHAIN);
}

function resolve(prop: unknown, left: number): ResolvedProp | undefined {
  if (typeof prop === 'string') return { definition: { type: prop }, origin: undefined };
  if (!isObjectValue(prop)) return undefined;
  const own = prop;
  const [from, name, inputValues] = asArray(own['propDefinition']);
  if (typeof name !== 'string') return { definition: own, origin: undefined };
  if (!isObjectValue(from)) return { definition: { ...own, propDefinition: [null, name, []] }, origin: undefined };
  const known = isObjectValue(from['propDefinitions']) ? from['propDefinitions'] : {};
  const inherited = Object.hasOwn(known, name) && left > 0 ? resolve(known[name], left - 1) : undefined;
  const taken =
    inherited === undefined ? notFound(from, name, known, left) : (brokenLink(inherited) ?? [from['app'], name]);
  const definition = { ...inherited?.definition, ...own, propDefinition: taken };
  const givesOptions = own['options'] === undefined && inherited?.definition['options'] !== undefined;
  const further = givesOptions && inherited.origin?.givesOptions === true ? inherited.origin : undefined;
  const origin = { from: further?.from ?? from, inputs: [...(further?.inputs ?? []), inputValues], givesOptions };
  return { definition, origin };
}

/** With a third member: the valid names, or false where the chain has no end. */
function notFound(
  from: Record<string, unknown>,
  name: string,
  known: Record<string, unknown>,
  left: number,
): unknown[] {
  if (left === 0) return [from['app'], name, false];
  const isDefinition = (one: string): boolean => typeof known[one] === 'string' || isObjectValue(known[one]);
  return [from['app'], name, Object.keys(known).filter(isDefinition).slice(0, MAX_SHOWN_NAMES)];
}

/** Reports the broken link further along the chain, because that is the error. */
function brokenLink({ definition }: ResolvedProp): unknown[] | undefined {
  const { propDefinition } = definition;
  const taken = asArray(propDefinition);
  if (propDefinition !== undefined && typeof taken[1] !== 'string') return [];
  return taken.length > 2 ? taken : undefined;
}

/**
 * Every prop of `props`, also those that are no definition: as they are, or null where JSON has no
 * such value. `{ __proto__: … }` and other members of a prototype are no props, and reported.
 */
export function resolveProps(props: unknown): unknown {
  if (props === undefined || props === null) return props;
  if (!hasMembers(props)) return getTag(props);
  const inherited: unknown = Object.getPrototypeOf(props);
  const members = Object.entries(props).map(([name, prop]) => [name, isData(prop) ? shown(prop) : null] as const);
  const hasInherited = isObjectValue(inherited) && Object.keys(inherited).length > 0;
  return Object.fromEntries(hasInherited ? [...members, ['__proto__', null]] : members);
}

const PLAIN = '[object Object]';
const { toString } = Object.prototype;

/** False for a Map and the like: their entries are no members. */
export function hasMembers(value: unknown): value is Record<string, unknown> {
  return isObjectValue(value) && (getTag(value) === PLAIN || Object.keys(value).length > 0);
}

/** `[object Map]`. */
export function getTag(value: unknown): string {
  return applyFunction(toString, value, []) as string;
}

function isData(value: unknown): boolean {
  return typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint';
}

/**
 * An app prop without what belongs to the app alone: other props show what they take from it
 * themselves.
 */
function shown(prop: unknown): unknown {
  if (typeof prop === 'string') return prop;
  const definition = resolveProp(prop)?.definition ?? prop;
  if (!isObjectValue(definition) || definition['type'] !== 'app') return definition;
  const { propDefinitions: _, methods: __, ...rest } = definition;
  return rest;
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function isObjectValue(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
