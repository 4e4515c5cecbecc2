import type { GuestLimits } from '../bridge/guest-limits.ts';
import { applyFunction, parseJson, stringifyJson } from './intrinsics.ts';
import { limitError } from './limit-error.ts';
import type { LoadedComponent } from './load-component.ts';
import { outlineProps } from './outline.ts';
import { getTag, hasMembers, isObjectValue } from './resolve-prop.ts';
import { utf8LengthUpTo } from './utf8.ts';

/**
 * Result of `additionalProps` as JSON text of `{ props }`, outlined like the component's own props.
 */
export async function answerAdditionalProps(
  component: LoadedComponent,
  self: object,
  previousJson: string,
  limits: GuestLimits,
): Promise<string> {
  const { maxDynamicPropsBytes: maxBytes } = limits;
  const answered = await computeProps(component, self, previousJson, limits);
  const json = stringifyJson({ props: outlineProps(answered, limits) });
  const used = utf8LengthUpTo(json, maxBytes);
  if (used <= maxBytes) return json;
  throw limitError({ name: 'maxDynamicPropsBytes', value: maxBytes, used });
}

/**
 * Calls `additionalProps` with all definitions there are: the component's own, under those of the
 * last answer. Components change some of them (`previous.name.hidden = true`), so each is a copy,
 * and a changed one belongs to the answer.
 */
export async function computeProps(
  component: LoadedComponent,
  self: object,
  previousJson: string,
  limits: GuestLimits,
): Promise<Record<string, unknown>> {
  const outlineOf = (prop: unknown) => stringifyJson(outlineProps({ prop }, limits));
  if (component.additionalProps === undefined) return {};
  const previous = previousDefinitions(component, previousJson);
  const before = new Map(Object.entries(previous).map(([name, prop]) => [name, outlineOf(prop)]));
  const answered: unknown = await applyFunction(component.additionalProps, self, [previous]);
  if (answered !== undefined && answered !== null && !hasMembers(answered))
    throw new TypeError(`additionalProps must answer an object of prop definitions, not ${describeKind(answered)}`);
  const changed = Object.entries(previous).filter(
    ([name, prop]) => before.has(name) && component.props.has(name) && outlineOf(prop) !== before.get(name),
  );
  return { ...Object.fromEntries(changed), ...(answered as Record<string, unknown> | null | undefined) };
}

function describeKind(answered: unknown): string {
  if (Array.isArray(answered)) return 'a list';
  return isObjectValue(answered) ? `a ${getTag(answered).slice('[object '.length, -1)}` : `a ${typeof answered}`;
}

/** Also a list of definitions with their names, as `describe` gives them. */
function previousDefinitions(component: LoadedComponent, json: string): Record<string, unknown> {
  const parsed = json === '' ? {} : parseJson(json);
  const entries: [string, unknown][] = Array.isArray(parsed)
    ? parsed.filter(isObjectValue).map((definition) => [String(definition['name']), definition])
    : Object.entries(isObjectValue(parsed) ? parsed : {});
  const own = [...component.props].map(([name, { definition }]): [string, unknown] => [name, { ...definition }]);
  const merged = Object.fromEntries(own);
  for (const [name, definition] of entries) {
    const ours = merged[name];
    if (isObjectValue(definition)) merged[name] = isObjectValue(ours) ? overlay(ours, definition) : { ...definition };
  }
  return merged;
}

/**
 * Merges the outline into the component's own prop. In the outline, functions are `true` and apps
 * are slugs, so the own ones stay.
 */
function overlay(own: Record<string, unknown>, outlined: Record<string, unknown>): Record<string, unknown> {
  const { options, propDefinition: _, ...rest } = outlined;
  return { ...own, ...rest, ...(options === true || options === undefined ? {} : { options }) };
}
