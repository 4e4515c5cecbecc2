/** A prop of a component with what it takes over from an app. Functions are still in it. */
export interface ResolvedProp {
  definition: Record<string, unknown>;
  /** Of a prop with a `propDefinition`: where it comes from, and the values that its `options` are given. */
  origin: { from: object; inputValues: unknown; givesOptions: boolean } | undefined;
}

/**
 * What a prop is: the app's definition under what the prop says itself. The app is replaced by its slug in `propDefinition`:
 * with dozens of props that take theirs from it, it would be shown dozens of times. Undefined for what is no definition.
 */
export function resolveProp(prop: unknown): ResolvedProp | undefined {
  if (typeof prop === 'string') return { definition: { type: prop }, origin: undefined };
  if (!isObject(prop)) return undefined;
  const own = prop;
  const [from, name, inputValues] = asArray(own['propDefinition']);
  if (!isObject(from) || typeof name !== 'string') return { definition: own, origin: undefined };
  const inherited = definitionOf(from, name);
  const definition = { ...inherited, ...own, propDefinition: [from['app'], name] };
  const givesOptions = own['options'] === undefined && inherited?.['options'] !== undefined;
  return { definition, origin: { from, inputValues, givesOptions } };
}

/** Every prop of `props`, also those that are no definition, as they are. */
export function resolveProps(props: unknown): unknown {
  if (!isObject(props)) return props;
  return Object.fromEntries(
    Object.entries(props).map(([name, prop]) => [name, typeof prop === 'string' ? prop : shown(prop)]),
  );
}

/** An app prop without what belongs to the app alone: other props show what they take from it themselves. */
function shown(prop: unknown): unknown {
  const definition = resolveProp(prop)?.definition ?? prop;
  if (!isObject(definition) || definition['type'] !== 'app') return definition;
  const { propDefinitions: _, methods: __, ...rest } = definition;
  return rest;
}

function definitionOf(from: Record<string, unknown>, name: string): Record<string, unknown> | undefined {
  const { propDefinitions } = from;
  if (!isObject(propDefinitions) || !Object.hasOwn(propDefinitions, name)) return undefined;
  const definition = propDefinitions[name];
  if (typeof definition === 'string') return { type: definition };
  return isObject(definition) ? definition : undefined;
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
