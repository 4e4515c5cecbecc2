import type { Sql, Transaction } from '../db/database.ts';

/**
 * What a version in the registry and a saved component have alike: it is copied from one to the
 * other, both ways.
 */
export const copiedColumns = (sql: Sql | Transaction) => sql`
  key, version, name, type, description, code, code_hash, code_url, bundle, source_map, bundle_hash, built_at, bundle_format,
  dependencies, dedupe, hooks, configurable_props, has_additional_props`;
