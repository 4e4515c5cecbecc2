import type { RunFault } from '@headwater/sandbox-runtime';
import { type DedupeStrategy, type HookName, LIMITS, type PropDefinition } from '@headwater/shared';
import { createRecentReads, type RecentReads } from '../fairness/index.ts';
import { createUnkeptRedactor, type SecretValue, type UnkeptRedactor } from '../secrets/index.ts';
import { openProps, type PropOpener, secretsIn, type SourceProp } from '../props/index.ts';
import type { Sql } from '../db/index.ts';
import { readSourceRuntime, type SourceRuntimeRow } from './source-runtime.sql.ts';

/** A source made ready to run; its component's code is read for each run. */
export interface SourceRuntime {
  sourceId: string;
  accountId: string;
  name: string;
  active: boolean;
  deleted: boolean;
  /**
   * `dc_x:3`: a change of code or props is a new key, so a warm isolate of the old one is not used.
   */
  isolateKey: string;
  componentId: string;
  dedupe: DedupeStrategy | undefined;
  hooks: HookName[];
  props: Record<string, SourceProp>;
  /** Bytes of the stored props as JSON. */
  configuredBytes: number;
  /** Values of secret props. */
  secrets: SecretValue[];
  /** Takes the values of secret props out of texts; absent where there are none. */
  redactor?: UnkeptRedactor;
  /** The reason why it cannot run at all; absent if it can. */
  fault?: RunFault;
}

/** Forgotten after a change, on every node (LISTEN). */
export type SourceRuntimes = RecentReads<SourceRuntime>;

const MAX_KEPT = 5_000;
/**
 * Usual memory of one byte of JSON; many small values take more. Measuring each value would block
 * the thread as long as reading it.
 */
const BYTES_OF_JSON = 4;
/**
 * A redactor searches for a secret in some twenty forms, most of them longer than the secret. The
 * memory of these forms has its own limit.
 */
const BYTES_OF_SECRET = 100;

/**
 * Keeps the most recently used ones. One tenant's may be large: they never take the node's memory,
 * nor the room of others.
 */
export function createSourceRuntimes(sql: Sql, opener: PropOpener): SourceRuntimes {
  return createRecentReads<SourceRuntime>({
    read: async (sourceId) => {
      const row = await readSourceRuntime(sql, sourceId);
      return row && runtimeOf(row, opener);
    },
    accountOf: ({ accountId }) => accountId,
    maxCount: MAX_KEPT,
    maxWeight: LIMITS.maxCachedSourceBytes,
    weightOf,
  });
}

function weightOf({ configuredBytes, secrets }: SourceRuntime): number {
  return BYTES_OF_JSON * configuredBytes + BYTES_OF_SECRET * JSON.stringify(secrets).length;
}

export function runtimeOf(row: SourceRuntimeRow, opener: PropOpener): SourceRuntime {
  const { props, unopened } = openProps(opener, {
    accountId: row.account_id,
    definitions: row.configurable_props as PropDefinition[],
    configured: row.configured_props,
    endpoints: row.endpoints ?? {},
  });
  const secrets = secretsIn(row.configured_props, props);
  const redactor = createUnkeptRedactor(secrets);
  return {
    sourceId: row.id,
    accountId: row.account_id,
    name: row.name,
    active: row.active,
    deleted: row.deleted,
    isolateKey: `${row.id}:${row.revision}`,
    componentId: row.component_id,
    dedupe: row.dedupe ?? undefined,
    hooks: row.hooks,
    props,
    configuredBytes: row.configured_bytes,
    secrets,
    ...(redactor === undefined ? {} : { redactor }),
    ...(unopened.length === 0 ? {} : { fault: faultOf(unopened) }),
  };
}

function faultOf(unopened: readonly string[]): RunFault {
  const names = unopened.join(', ');
  return { code: 'INTERNAL', message: `The stored secret of the prop ${names} cannot be opened; set it again` };
}
