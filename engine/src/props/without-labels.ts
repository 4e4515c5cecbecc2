import type { PropDefinition } from '@headwater/shared';

/**
 * A value as its component gets it. Forms send `{ "__lv": { "label", "value" } }` for a choice from
 * a list: alone, in an array, or around one. The component gets the value or, with `withLabel`,
 * both.
 */
export function withoutLabels(definition: PropDefinition, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => chosenOf(definition, item));
  return chosenOf(definition, value);
}

function chosenOf(definition: PropDefinition, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, '__lv')) return value;
  const chosen = (value as Record<string, unknown>)['__lv'];
  if (Array.isArray(chosen)) return chosen.map((one) => pick(definition, one));
  return pick(definition, chosen);
}

function pick(definition: PropDefinition, chosen: unknown): unknown {
  if (typeof chosen !== 'object' || chosen === null) return chosen;
  return definition['withLabel'] === true ? chosen : (chosen as { value?: unknown }).value;
}
