import type { Sql, Transaction } from '../db/database.ts';

/**
 * Columns that registry versions and saved components share. They are copied in both directions.
 */
export const copiedColumns = (sql: Sql | Transaction) => sql`
  key, version, name, type, description, code, code_hash, code_url, bundle, source_map, bundle_hash, built_at, bundle_format,
  dependencies, dedupe, hooks, configurable_props, has_additional_props`;
