import { z } from 'zod';
import type { FilterJson } from '../filters/filter.ts';

export const filterField = z
  .record(z.string(), z.unknown())
  .nullable()
  .meta({ description: 'Only events whose data match it; null: every event.' });

/** The filter of a record was checked when it was given. */
export interface Filtered {
  filter: FilterJson | null;
}
