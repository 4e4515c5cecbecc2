import { type FilterJson, parseFilter } from '@headwater/shared';
import { throwFields } from '../../contract/index.ts';

/**
 * The JSON text of a filter as it is stored; null: no filter. Throws INVALID_REQUEST for an invalid
 * filter.
 */
export function readGivenFilter(json: unknown): string | null | undefined {
  if (json === undefined || json === null) return json;
  const outcome = parseFilter(json);
  if (outcome.kind === 'fault') throwFields([outcome.fault]);
  return JSON.stringify(json);
}

/** A stored filter as it was given. */
export function filterJson(text: string | null): FilterJson | null {
  return text === null ? null : (JSON.parse(text) as FilterJson);
}
