import type { ComponentBundle, RunFault } from '@headwater/sandbox-runtime';
import type { DedupeStrategy, HookName, PropDefinition } from '@headwater/shared';
import { createRedactor, type Redactor, type SecretValue } from '../secrets/redactor.ts';
import { openProps, type PropOpener, secretsIn, type SourceProp } from '../sources/run-props.ts';
import type { Sql } from '../store/database.ts';
import { readSourceRuntime, type SourceRuntimeRow } from '../store/read-source-runtime.ts';

/** A source made ready to run. */
export interface SourceRuntime {
  sourceId: string;
  accountId: string;
  name: string;
  active: boolean;
  deleted: boolean;
  /** `dc_x:3`: a change of code or props is a new key, so a warm isolate of the old one is not used. */
  isolateKey: string;
  bundle: ComponentBundle;
  dedupe: DedupeStrategy | undefined;
  hooks: HookName[];
  props: Record<string, SourceProp>;
  /** Values of secret props. */
  secrets: SecretValue[];
  /** Takes the values of secret props out of texts; absent where there are none. */
  redactor?: Redactor;
  /** Why it cannot run at all; absent where it can. */
  fault?: RunFault;
}

export interface SourceRuntimes {
  get(sourceId: string): Promise<SourceRuntime | undefined>;
  /** After a change, on every node (LISTEN). */
  forget(sourceId: string): void;
  forgetAll(): void;
}

const MAX_CACHED = 1_000;

/** Keeps the most recently used runtimes; concurrent first uses share one read. */
export function createSourceRuntimes(sql: Sql, opener: PropOpener): SourceRuntimes {
  const cache = new Map<string, Promise<SourceRuntime | undefined>>();

  function load(sourceId: string): Promise<SourceRuntime | undefined> {
    const loading = readSourceRuntime(sql, sourceId).then((row) => row && runtimeOf(row, opener));
    // A failed or empty read is not remembered; the caller sees the error.
    loading.then(
      (runtime) => runtime === undefined && cache.delete(sourceId),
      () => cache.delete(sourceId),
    );
    return loading;
  }

  return {
    get(sourceId) {
      const found = cache.get(sourceId);
      const runtime = found ?? load(sourceId);
      cache.delete(sourceId);
      cache.set(sourceId, runtime);
      if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value as string);
      return runtime;
    },
    forget: (sourceId) => void cache.delete(sourceId),
    forgetAll: () => cache.clear(),
  };
}

export function runtimeOf(row: SourceRuntimeRow, opener: PropOpener): SourceRuntime {
  const { props, unopened } = openProps(opener, {
    accountId: row.account_id,
    definitions: row.configurable_props as PropDefinition[],
    configured: row.configured_props,
    endpoints: row.endpoints ?? {},
  });
  const secrets = secretsIn(row.configured_props, props);
  const redactor = createRedactor(secrets);
  return {
    sourceId: row.id,
    accountId: row.account_id,
    name: row.name,
    active: row.active,
    deleted: row.deleted,
    isolateKey: `${row.id}:${row.revision}`,
    bundle: { code: row.bundle, sourceMap: row.source_map ?? '', hash: row.bundle_hash },
    dedupe: row.dedupe ?? undefined,
    hooks: row.hooks,
    props,
    secrets,
    ...(redactor === undefined ? {} : { redactor }),
    ...(unopened.length === 0 ? {} : { fault: faultOf(unopened) }),
  };
}

function faultOf(unopened: readonly string[]): RunFault {
  const names = unopened.join(', ');
  return { code: 'INTERNAL', message: `The stored secret of the prop ${names} cannot be opened; set it again` };
}
