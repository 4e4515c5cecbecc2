import type { Filter, FilterMeter } from './filter.ts';
import { matches } from './match-filter.ts';

const MAX_CLAUSE_CHARS = 300;

/**
 * The first clause of a filter that the data do not match, as JSON text; undefined where all match.
 */
export function explainFilter(filter: Filter, data: unknown, meter: FilterMeter): string | undefined {
  const clause = clauseOf(filter, data, meter);
  if (clause === undefined) return undefined;
  const text = JSON.stringify(clause);
  return text.length > MAX_CLAUSE_CHARS ? `${text.slice(0, MAX_CLAUSE_CHARS)}…` : text;
}

function clauseOf(filter: Filter, value: unknown, meter: FilterMeter): unknown {
  for (const part of typeof filter.json === 'object' && filter.json !== null ? partsOf(filter) : []) {
    if (matches(part.filter, value, meter)) continue;
    const [field] = part.filter.fields;
    if (field === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return part.json;
    const inner: unknown = Object.hasOwn(value, field.name) ? Reflect.get(value, field.name) : undefined;
    const isSimple = inner === undefined || Array.isArray(inner);
    return isSimple ? part.json : Object.fromEntries([[field.name, clauseOf(field.filter, inner, meter)]]);
  }
  // Each condition holds for some element of a list, but all of them for none.
  return matches(filter, value, meter) ? undefined : filter.json;
}

/** Each of its conditions as a filter of its own. Members of a list belong together. */
function partsOf(filter: Filter): { filter: Filter; json: unknown }[] {
  const { checks, fields, elements, and, or, not } = filter;
  const none = { ...filter, checks: [], fields: [], elements: [], and: [], or: [], not: undefined, namesFields: false };
  return [
    ...checks.map((one) => ({ filter: { ...none, checks: [one] }, json: { [one.operator]: one.operand } })),
    ...fields.map((one) => ({
      filter: { ...none, fields: [one], namesFields: true },
      json: Object.fromEntries([[one.name, one.filter.json]]),
    })),
    ...(elements.length === 0 ? [] : [{ filter: { ...none, elements }, json: filter.json }]),
    ...and.map((one) => ({ filter: one, json: one.json })),
    ...(or.length === 0
      ? []
      : [
          {
            filter: { ...none, or, namesFields: or.some((one) => one.namesFields) },
            json: { $or: or.map((one) => one.json) },
          },
        ]),
    ...(not === undefined ? [] : [{ filter: { ...none, not }, json: { $not: not.json } }]),
  ];
}
