import type { PropDefinition } from '@headwater/shared';

/**
 * The final set: a component's own definitions, each replaced where `additionalProps` has defined
 * it anew, then the others of those.
 */
export function mergeDefinitions(own: readonly PropDefinition[], dynamic: readonly PropDefinition[]): PropDefinition[] {
  const replacing = new Map(dynamic.map((definition) => [definition.name, definition]));
  const names = new Set(own.map(({ name }) => name));
  return [
    ...own.map((definition) => replacing.get(definition.name) ?? definition),
    ...dynamic.filter(({ name }) => !names.has(name)),
  ];
}
