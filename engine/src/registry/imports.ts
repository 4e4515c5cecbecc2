import type { Builder, ComponentFiles } from '@headwater/sandbox-runtime';
import { HeadwaterError, LIMITS, newId, notFound } from '@headwater/shared';
import type { Principal } from '../contract-base.ts';
import type { ComponentRecord, Components, ImportedComponent, Imports, Registry } from '../contract-components.ts';
import { every } from '../every.ts';
import type { Log } from '../log.ts';
import type { Sql } from '../store/database.ts';
import {
  claimImport,
  type ClaimedImport,
  insertImport,
  readImport,
  recordImported,
  releaseImport,
} from '../store/registry-imports.ts';
import { collectFiles } from './collect-files.ts';
import { findTreeComponents, readTree } from './component-tree.ts';
import { readArchive } from './read-archive.ts';

export interface ImportOptions {
  sql: Sql;
  components: Pick<Components, 'publish'>;
  saveFiles: (who: Principal, component: ComponentFiles) => Promise<ComponentRecord>;
  registry: Pick<Registry, 'publish'>;
  builder: Pick<Builder, 'listMissingFiles'>;
  log: Log;
}

const PAUSE_MS = 1_000;
/** Longer than what one component can take: two builds, loading it, and waiting for a turn of each. */
const LEASE_SECONDS = 600;
const MAX_ERROR_CHARS = 1_000;
const MAX_ERRORS = 10;

export function createImports({ sql }: Pick<ImportOptions, 'sql'>): Imports {
  async function get(who: Principal, id: string) {
    const found = id.includes('\0') ? undefined : await readImport(sql, who.accountId, id);
    if (found === undefined) throw notFound('import', id);
    return found;
  }
  return {
    async start(who, { scope, files, archive }) {
      const { tree, faults } = readTree(archive === undefined ? (files ?? {}) : await readArchive(archive));
      const total = findTreeComponents(tree).length;
      if (total === 0 && faults.length === 0)
        faults.push({ path: 'files', message: 'No component is in a folder `sources` or `actions` of an app' });
      if (total > LIMITS.maxImportComponents) {
        const message = `There are ${total} components; at most ${LIMITS.maxImportComponents} are imported at once`;
        faults.push({ path: 'files', message });
      }
      if (faults.length > 0) throw new HeadwaterError('INVALID_REQUEST', faults[0]?.message ?? '', { fields: faults });
      const row = { id: newId('registryImport'), ...who, scope, files: tree, total };
      const room = { maxWaiting: LIMITS.maxWaitingImports, kept: LIMITS.maxKeptImports };
      const id = await insertImport(sql, row, room);
      if (id !== undefined) return get(who, id);
      const value = LIMITS.maxWaitingImports;
      const message = `${value} imports of this account are under way; try again when one has ended`;
      const limit = { name: 'maxWaitingImports', value, used: value + 1 } as const;
      throw new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: 10, limit });
    },
    get,
  };
}

/**
 * Works on imports in turns of LIMITS.importTurnMs, each time on the one that has waited longest. Components are built in the
 * builder's queues, where accounts take turns as well. Answers a stop that waits for the component under way: stop the builder
 * at the same time.
 */
export function startImports(options: ImportOptions): () => Promise<void> {
  const { sql, log } = options;
  let isStopping = false;
  const stop = every(
    PAUSE_MS,
    async () => {
      for (;;) {
        const claimed = isStopping ? undefined : await claimImport(sql, LEASE_SECONDS);
        if (claimed === undefined) return;
        if (!(await takeTurn(options, claimed, () => isStopping))) return;
      }
    },
    (err) => log.error({ err }, 'an import could not go on'),
  );
  return () => {
    isStopping = true;
    return stop();
  };
}

/** False where the builder has no room: the turn ends, and a pause is due. */
async function takeTurn(options: ImportOptions, claimed: ClaimedImport, isStopping: () => boolean): Promise<boolean> {
  const { sql, log } = options;
  const { tree } = readTree(claimed.files);
  const left = findTreeComponents(tree).filter((path) => !claimed.done.has(path));
  const untilMs = performance.now() + LIMITS.importTurnMs;
  let isDone = false;
  try {
    for (const path of left) {
      if (isStopping() || performance.now() > untilMs) return true;
      const result = await importOne(options, claimed, path, tree);
      if (result === undefined) return false;
      await recordImported(sql, claimed.id, result);
    }
    isDone = true;
    return true;
  } finally {
    await releaseImport(sql, claimed.id, isDone).catch((err: unknown) =>
      log.error({ err }, 'an import was not released'),
    );
  }
}

/** Undefined where it has to be tried again. */
async function importOne(
  { components, saveFiles, registry, builder, log }: ImportOptions,
  { id, scope, ...who }: ClaimedImport,
  path: string,
  tree: Readonly<Record<string, string>>,
): Promise<ImportedComponent | undefined> {
  try {
    const files = await collectFiles(tree, path, (component) => builder.listMissingFiles(who.accountId, component));
    const saved = await saveFiles(who, files);
    const made =
      scope === 'draft'
        ? saved
        : scope === 'account'
          ? await components.publish(who, saved.id)
          : await registry.publish(who, saved.id);
    return { path, componentId: made.id, ...(made.key === undefined ? {} : { key: made.key }), version: made.version };
  } catch (error) {
    if (!(error instanceof HeadwaterError)) {
      log.error({ err: error, import: id, path }, 'a component could not be imported');
      return { path, error: { code: 'INTERNAL', message: 'Something went wrong on our side', errors: [] } };
    }
    if (error.code === 'RATE_LIMITED' || error.code === 'UNAVAILABLE') return undefined;
    const short = (text: string) => text.slice(0, MAX_ERROR_CHARS).replaceAll('\0', '').toWellFormed();
    const errors = error.fields.slice(0, MAX_ERRORS).map((field) => ({ ...field, message: short(field.message) }));
    return { path, error: { code: error.code, message: short(error.message), errors } };
  }
}
