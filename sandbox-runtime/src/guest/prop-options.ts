import type { GuestLimits } from '../bridge/guest-limits.ts';
import { type LoadedApp, makeAppProp } from './app-prop.ts';
import { type ComponentFunction, readMethods } from './bind-methods.ts';
import { applyFunction, stringifyJson, toText } from './intrinsics.ts';
import { toJson } from './json-value.ts';
import { limitError } from './limit-error.ts';
import type { LoadedComponent } from './load-component.ts';
import { computeProps } from './additional-props.ts';
import { isObjectValue, type ResolvedProp, resolveProp } from './resolve-prop.ts';
import type { RunInstance } from './run-instance.ts';
import { utf8LengthUpTo } from './utf8.ts';

/** Input of the entry `options`. The process does not check it. */
export interface OptionsQuestion {
  prop: string;
  page: number;
  prevContext?: unknown;
  query?: string;
}

interface Option {
  label: string;
  value: unknown;
}

/**
 * The choices of a prop, as JSON text of `{ options, context? }`. Throws what the component throws,
 * TypeError, and LimitError.
 */
export async function answerOptions(
  component: LoadedComponent,
  instance: RunInstance,
  question: OptionsQuestion,
  limits: GuestLimits,
): Promise<string> {
  const { maxPropOptionsBytes: maxBytes } = limits;
  const { prop: name } = question;
  const prop = await findProp(component, instance, name, limits);
  const { options } = prop.definition;
  const answered: unknown =
    typeof options === 'function'
      ? await callOptions(component, instance, prop, options as ComponentFunction, question)
      : options;
  const { list, context } = isPage(answered)
    ? { list: answered.options, context: answered.context }
    : { list: answered };
  const json = toJson(`The answer of the options of '${name}'`, { options: readOptions(name, list), context });
  const used = utf8LengthUpTo(json, maxBytes);
  if (used <= maxBytes) return json;
  throw limitError({ name: 'maxPropOptionsBytes', value: maxBytes, used });
}

/**
 * A page by token: `{ options, context }`. Any other value that is not a list is an error: `{ items
 * }`, a Set, text.
 */
function isPage(answered: unknown): answered is { options?: unknown; context?: unknown } {
  return isObjectValue(answered) && (Object.hasOwn(answered, 'options') || Object.hasOwn(answered, 'context'));
}

/** A prop of the component itself, else one that it computes from its configuration. */
async function findProp(
  component: LoadedComponent,
  { self }: RunInstance,
  name: string,
  limits: GuestLimits,
): Promise<ResolvedProp> {
  const own = component.props.get(name);
  if (hasOptions(own)) return own;
  const computed = component.additionalProps === undefined ? {} : await computeProps(component, self, '{}', limits);
  const dynamic = Object.hasOwn(computed, name) ? resolveProp(computed[name]) : undefined;
  if (hasOptions(dynamic)) return dynamic;
  const isKnown = own !== undefined || dynamic !== undefined;
  throw new TypeError(isKnown ? `The prop '${name}' has no options` : `The component has no prop '${name}'`);
}

function hasOptions(prop: ResolvedProp | undefined): prop is ResolvedProp {
  const options = prop?.definition['options'];
  return typeof options === 'function' || (typeof options === 'object' && options !== null);
}

async function callOptions(
  component: LoadedComponent,
  instance: RunInstance,
  { definition, origin }: ResolvedProp,
  options: ComponentFunction,
  { page, prevContext, query }: OptionsQuestion,
): Promise<unknown> {
  const inputs = await readInputs(origin?.inputs ?? [], instance);
  const parameter = {
    ...inputs,
    page,
    // Components take it apart at once (`prevContext: { cursor }`): without a previous page it is
    // empty, and not absent.
    prevContext: prevContext ?? {},
    ...(definition['useQuery'] === true && query !== undefined ? { query } : {}),
  };
  const self = origin?.givesOptions === true ? appOf(component, instance, origin.from) : instance.self;
  return await applyFunction(options, self, [parameter]);
}

async function readInputs(all: readonly unknown[], { props }: RunInstance): Promise<object> {
  const inputs: Record<string, unknown> = {};
  for (const inputValues of all) {
    const given: unknown =
      typeof inputValues === 'function' ? await (inputValues as ComponentFunction)(props) : inputValues;
    if (typeof given === 'object' && given !== null) Object.assign(inputs, given);
  }
  return inputs;
}

/**
 * The `this` of an app's functions: the prop that is this very app, or one with the same slug. Of
 * several, one with an account. An app that is no prop of the component still has its methods.
 */
function appOf(component: LoadedComponent, { self, props }: RunInstance, from: object): unknown {
  const { app: slug, methods } = from as Record<string, unknown>;
  const candidates = [...component.apps].filter(([, known]) => known.app === from || isSameSlug(known, slug));
  const same = candidates.filter(([, known]) => known.app === from);
  const [found] = (same.length > 0 ? same : candidates).toSorted(([a], [b]) => authKeys(props[b]) - authKeys(props[a]));
  if (found !== undefined) return props[found[0]];
  return methods === undefined && slug === undefined ? self : makeAppProp(readMethods(methods), {});
}

function isSameSlug({ slug }: LoadedApp, other: unknown): boolean {
  return slug !== undefined && slug === other;
}

function authKeys(app: unknown): number {
  const auth = isObjectValue(app) ? app['$auth'] : undefined;
  return isObjectValue(auth) && Object.keys(auth).length > 0 ? 1 : 0;
}

function readOptions(name: string, list: unknown): Option[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list))
    throw new TypeError(`The options of '${name}' must be a list, or { options, context }, not ${kindOf(list)}`);
  return list.flatMap((item: unknown) => readOption(name, item) ?? []);
}

/**
 * A plain value, `{ label, value }`, or that below `__lv` or `lv`. Undefined for one that cannot be
 * chosen.
 */
function readOption(name: string, item: unknown): Option | undefined {
  if (item === undefined || item === null) return undefined;
  if (!isObjectValue(item)) {
    if (typeof item === 'object' || typeof item === 'function' || typeof item === 'symbol') throw unusable(name, item);
    return { label: toText(item), value: item };
  }
  const { __lv: marked, lv } = item;
  const inner = marked ?? lv;
  if (isObjectValue(inner)) return readOption(name, inner);
  const { label, value } = item;
  if (value === undefined) {
    if (Object.hasOwn(item, 'value') || Object.hasOwn(item, 'label')) return undefined;
    throw unusable(name, item);
  }
  const shown = label ?? (typeof value === 'object' ? stringifyJson(value) : value);
  return { label: toText(shown), value };
}

function unusable(name: string, item: unknown): TypeError {
  return new TypeError(
    `The options of '${name}' must be strings, numbers, booleans or { label, value } objects, not ${kindOf(item)}`,
  );
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Set || value instanceof Map)
    return `a ${value instanceof Set ? 'Set' : 'Map'}: spread it into a list`;
  if (!isObjectValue(value)) return `a ${typeof value}`;
  const keys = Object.keys(value).slice(0, 5).join(', ');
  return keys === '' ? 'an empty object' : `an object with ${keys}`;
}
