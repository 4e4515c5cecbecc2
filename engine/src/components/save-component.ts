import { createHash } from 'node:crypto';
import {
  type Builder,
  type BuildOutcome,
  bundleOverLimit,
  type ComponentBundle,
  type ComponentFiles,
  type DescribeOutcome,
  type FetchOutcome,
  type FetchRequest,
  type Sandbox,
} from '@headwater/sandbox-runtime';
import { type ExceededLimit, type FieldError, HeadwaterError, LIMITS, newId } from '@headwater/shared';
import { type AccountRoom, checkCodeRoom } from '../accounts/index.ts';
import { type BoundedTurns, createBoundedTurns } from '../fairness/index.ts';
import type { CodeUse, ComponentChoice, ComponentRecord, Components, Principal } from '../contract/index.ts';
import { createComponent, keepComponent, type NewComponent } from './components.sql.ts';
import type { Database } from '../db/index.ts';
import { findBundle, hasCode } from './bundles.sql.ts';
import { readComponent, readSameComponent } from './read-component.sql.ts';
import { fetchComponent, fileNameOf } from './fetch-component.ts';

export interface SaveOptions {
  db: Database;
  sandbox: Sandbox;
  builder: Builder;
  room: AccountRoom;
  /** Stops reading a body at `maxBytes`. */
  fetch: (who: Principal, request: FetchRequest, signal: AbortSignal, maxBytes: number) => Promise<FetchOutcome>;
}

interface Code {
  text: string;
  component: ComponentFiles;
  url?: string;
}

export interface Saver extends Pick<Components, 'save'> {
  /** As `save`, and nothing is stored: what would be. */
  prepare(who: Principal, choice: ComponentChoice, use?: CodeUse): Promise<NewComponent>;
  /** As `save`, for code in several files. The saved `code` is that of the entry file. */
  saveFiles(who: Principal, component: ComponentFiles): Promise<ComponentRecord>;
}

/**
 * Counts the ways in which bundles have been made; a change that makes old ones unfit to be used
 * again adds one.
 */
const BUNDLE_FORMAT = 1;
/**
 * Longest pause after a fetch from a URL: waiting for a slow server costs other tenants nothing.
 */
const MAX_REST_MS = 1_000;

/**
 * Saves component code. It is bundled and loaded once first, so it has a name, a version and a run.
 */
export function createSaver(options: SaveOptions): Saver {
  const fetches = createBoundedTurns(
    'maxComponentFetchesPerTenant',
    'components by URL',
    LIMITS.componentFetchesAtOnce,
  );
  const codeOf = (who: Principal, choice: ComponentChoice) => readCode(options, fetches, who, choice);
  return {
    async prepare(who, choice, use) {
      const code = await codeOf(who, choice);
      return withPrepared(options, { who, code, use }, (prepared) => Promise.resolve(prepared));
    },
    save: async (who, choice, use) => saveCode(options, who, await codeOf(who, choice), use),
    async saveFiles(who, component) {
      const code = { text: component.files[component.entry] ?? '', component };
      return saveCode(options, who, code);
    },
  };
}

async function saveCode(options: SaveOptions, who: Principal, code: Code, use?: CodeUse): Promise<ComponentRecord> {
  await checkRoom(options, who, code);
  return withPrepared(options, { who, code, use }, (prepared) => store(options, prepared, use));
}

async function store({ db, room }: SaveOptions, prepared: NewComponent, use?: CodeUse): Promise<ComponentRecord> {
  const { accountId, name, key, version, codeHash, codeUrl, bundle } = prepared;
  const same = await readSameComponent(db, accountId, {
    name,
    version,
    codeHash,
    bundleHash: bundle.hash,
    ...(key === undefined ? {} : { key }),
    ...(codeUrl === undefined ? {} : { codeUrl }),
    ...(use?.before === undefined ? {} : { before: use.before }),
  });
  if (same === undefined) return room.make(accountId, (limits) => createComponent(db, prepared, limits));
  if (use !== undefined || !(await keepComponent(db, same.id, prepared))) return same;
  return (await readComponent(db, accountId, same.id)) ?? same;
}

/** Code that is there already may need none. */
async function checkRoom({ db: { sql }, room }: SaveOptions, { accountId }: Principal, code: Code): Promise<void> {
  if (await hasCode(sql, accountId, hashOf(code.component))) return;
  await checkCodeRoom(sql, accountId, await room.limits(accountId));
}

interface Preparation {
  who: Principal;
  code: Code;
  use: CodeUse | undefined;
}

/**
 * Bundles the code, loads it, and calls `work` with the record to store. The bundle counts for the
 * account until `work` ends. Otherwise an account could queue any number of large bundles for
 * loading.
 */
async function withPrepared<T>(
  options: SaveOptions,
  preparation: Preparation,
  work: (prepared: NewComponent) => Promise<T>,
): Promise<T> {
  const { db, builder } = options;
  const { who, code } = preparation;
  checkCode(code.component);
  const codeHash = hashOf(code.component);
  let builtAt = new Date();
  /** The bundle of the same code, where this account has one that still counts. */
  async function findEarlier(pinned: boolean) {
    const found = await findBundle(db, who.accountId, {
      codeHash,
      format: BUNDLE_FORMAT,
      ...(code.url === undefined ? {} : { codeUrl: code.url }),
      ...(pinned ? {} : { maxAgeMs: LIMITS.bundleReuseMs }),
    });
    // Its age goes on counting: code that is deployed every hour is to get new versions one day.
    if (found !== undefined) builtAt = found.builtAt;
    return found;
  }
  const request = { tenantId: who.accountId, component: code.component, findEarlier };
  return builder.buildFor(request, async (outcome) => {
    const { bundle, dependencies } = accept(outcome);
    return work(await load(options, preparation, { bundle, dependencies, builtAt, codeHash }));
  });
}

type BuiltCode = Pick<NewComponent, 'bundle' | 'dependencies' | 'builtAt' | 'codeHash'>;

async function load(options: SaveOptions, preparation: Preparation, built: BuiltCode): Promise<NewComponent> {
  const { room, sandbox } = options;
  const { who, code, use } = preparation;
  const stepName = use?.of === 'step' ? use.name : undefined;
  const { maxBundleBytes, memoryMb } = await room.limits(who.accountId);
  checkBundle(built.bundle, maxBundleBytes);
  const { description } = accept(await sandbox.describe(who.accountId, built.bundle, { stepName, memoryMb }));
  return {
    id: newId('savedComponent'),
    accountId: who.accountId,
    ...description,
    code: code.text,
    ...(code.url === undefined ? {} : { codeUrl: code.url }),
    ...built,
    bundleFormat: BUNDLE_FORMAT,
    ofStep: use !== undefined,
  };
}

async function readCode(
  options: SaveOptions,
  fetches: BoundedTurns,
  who: Principal,
  choice: ComponentChoice,
): Promise<Code> {
  const { componentCode, componentUrl } = choice;
  if (componentCode !== undefined) {
    const name = fileNameOf(componentUrl);
    const component = { entry: name, files: { [name]: componentCode } };
    return { text: componentCode, component, ...(componentUrl === undefined ? {} : { url: componentUrl }) };
  }
  if (componentUrl === undefined) {
    throw new HeadwaterError('INVALID_REQUEST', 'Give component_code or component_url', {
      fields: [{ path: 'component_code', message: 'Required without component_url' }],
    });
  }
  const fetch = () =>
    fetchComponent(
      (request, signal, maxBytes) => options.fetch(who, request, signal, maxBytes),
      (files) => options.builder.listMissingFiles(who.accountId, files),
      componentUrl,
    );
  // The pause is as long as the fetch: an account with many fetches is slowed, and other tenants
  // are not.
  const component = await fetches.run(who.accountId, fetch, (tookMs) => Math.min(tookMs, MAX_REST_MS));
  return { text: component.files[component.entry] ?? '', component, url: componentUrl };
}

/**
 * With several files, the hash includes the entry: two components that import each other have the
 * same files.
 */
function hashOf({ entry, files }: ComponentFiles): string {
  const names = Object.keys(files).toSorted();
  const isSingle = names.length === 1;
  const text = isSingle ? (files[entry] ?? '') : JSON.stringify([entry, names.map((name) => [name, files[name]])]);
  return createHash('sha256').update(text).digest('hex');
}

function checkCode({ files }: ComponentFiles): void {
  const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const value = LIMITS.maxComponentCodeBytes;
  const refuse = (message: string, limit?: ExceededLimit) => invalid([{ path: 'component_code', message }], limit);
  if (bytes > value)
    throw refuse(`The code has ${bytes} bytes; at most ${value} are allowed`, {
      name: 'maxComponentCodeBytes',
      value,
      used: bytes,
    });
  if (Object.values(files).some((text) => text.includes('\0'))) throw refuse('The code contains a NUL character');
}

function checkBundle(bundle: ComponentBundle, maxBundleBytes: number): void {
  const tooLarge = bundleOverLimit(Buffer.byteLength(bundle.code), maxBundleBytes);
  if (tooLarge !== undefined) throw invalid(tooLarge.errors, tooLarge.limit);
}

function accept<T extends BuildOutcome | DescribeOutcome>(outcome: T): Extract<T, { ok: true }> {
  if (!outcome.ok) throw invalid(outcome.errors, 'limit' in outcome ? outcome.limit : undefined);
  return outcome as Extract<T, { ok: true }>;
}

function invalid(errors: readonly FieldError[], limit?: ExceededLimit): HeadwaterError {
  const [first] = errors;
  const message = first === undefined ? 'The component cannot be loaded' : `${placeOf(first)}${first.message}`;
  return new HeadwaterError('INVALID_COMPONENT', message, {
    fields: errors,
    ...(limit === undefined ? {} : { limit }),
  });
}

/** A line of the code, or a part of the component that the message does not name itself. */
function placeOf({ path, message, file, line }: FieldError): string {
  if (line !== undefined) return `${file ?? 'component'}:${line}: `;
  const isNamed = path === 'component_code' || path === 'component_url' || message.startsWith(path);
  return isNamed ? '' : `${path}: `;
}
