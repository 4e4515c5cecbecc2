import { createHash } from 'node:crypto';
import type {
  Builder,
  BuildOutcome,
  ComponentBundle,
  ComponentFiles,
  DescribeOutcome,
  FetchOutcome,
  FetchRequest,
  Sandbox,
} from '@headwater/sandbox-runtime';
import { type FieldError, HeadwaterError, LIMITS, newId } from '@headwater/shared';
import type { LimitsCache } from '../accounts/limits-cache.ts';
import type { Principal } from '../contract-base.ts';
import type { ComponentChoice, ComponentRecord, Components } from '../contract-components.ts';
import { createComponent, type NewComponent } from '../store/create-component.ts';
import type { Database } from '../store/database.ts';
import { findBundle } from '../store/find-bundle.ts';
import { readSameComponent } from '../store/read-component.ts';
import { fetchComponent, fileNameOf } from './fetch-component.ts';

export interface SaveOptions {
  db: Database;
  sandbox: Sandbox;
  builder: Builder;
  limits: Pick<LimitsCache, 'get'>;
  fetch: (who: Principal, request: FetchRequest, signal: AbortSignal) => Promise<FetchOutcome>;
}

interface Code {
  text: string;
  component: ComponentFiles;
  url?: string;
}

export interface Saver extends Pick<Components, 'save'> {
  /** As `save`, and nothing is stored: what would be. */
  prepare(who: Principal, choice: ComponentChoice, stepName?: string): Promise<NewComponent>;
  /** As `save`, for code of several files; `code` of what is saved is the entry's. */
  saveFiles(who: Principal, component: ComponentFiles): Promise<ComponentRecord>;
}

/** Counts the ways in which bundles have been made; a change that makes old ones unfit to be used again adds one. */
const BUNDLE_FORMAT = 1;

/** Saves component code. What is saved has been bundled and loaded once: it has a name, a version and a run. */
export function createSaver(options: SaveOptions): Saver {
  const prepare: Saver['prepare'] = async (who, choice, stepName) =>
    prepareCode(options, who, await codeOf(options, who, choice), stepName);
  return {
    prepare,
    save: async (who, choice, stepName) => saveCode(options, await prepare(who, choice, stepName)),
    async saveFiles(who, component) {
      const code = { text: component.files[component.entry] ?? '', component };
      return saveCode(options, await prepareCode(options, who, code));
    },
  };
}

async function saveCode({ db }: SaveOptions, prepared: NewComponent): Promise<ComponentRecord> {
  const { accountId, key, version, codeHash, codeUrl, bundle } = prepared;
  const url = codeUrl === undefined ? {} : { codeUrl };
  const wanted = { version, codeHash, bundleHash: bundle.hash, ...url };
  const same = key === undefined ? undefined : await readSameComponent(db, accountId, { key, ...wanted });
  return same ?? createComponent(db, prepared);
}

async function prepareCode(options: SaveOptions, who: Principal, code: Code, stepName?: string): Promise<NewComponent> {
  const { limits, sandbox } = options;
  checkCode(code.component);
  const codeHash = hashOf(code.component);
  const built = await buildCode(options, who, code, codeHash);
  checkBundle(built.bundle, (await limits.get(who.accountId)).maxBundleBytes);
  const { description } = accept(await sandbox.describe(who.accountId, built.bundle, stepName));
  return {
    id: newId('savedComponent'),
    accountId: who.accountId,
    ...description,
    code: code.text,
    codeHash,
    ...(code.url === undefined ? {} : { codeUrl: code.url }),
    ...built,
    bundleFormat: BUNDLE_FORMAT,
    ofStep: stepName !== undefined,
  };
}

/** The bundle of the same code, where this account has one that still counts, or a new one. */
async function buildCode({ db, builder }: SaveOptions, who: Principal, code: Code, codeHash: string) {
  let builtAt = new Date();
  const outcome = await builder.build({
    tenantId: who.accountId,
    component: code.component,
    async findEarlier(pinned) {
      const found = await findBundle(db, who.accountId, {
        codeHash,
        format: BUNDLE_FORMAT,
        ...(code.url === undefined ? {} : { codeUrl: code.url }),
        ...(pinned ? {} : { maxAgeMs: LIMITS.bundleReuseMs }),
      });
      // Its age goes on counting: code that is deployed every hour is to get new versions one day.
      if (found !== undefined) builtAt = found.builtAt;
      return found;
    },
  });
  const { bundle, dependencies } = accept(outcome);
  return { bundle, dependencies, builtAt };
}

async function codeOf(options: SaveOptions, who: Principal, choice: ComponentChoice): Promise<Code> {
  const { componentCode, componentUrl } = choice;
  if (componentCode !== undefined) {
    const name = fileNameOf(componentUrl);
    const component = { entry: name, files: { [name]: componentCode } };
    return { text: componentCode, component, ...(componentUrl === undefined ? {} : { url: componentUrl }) };
  }
  if (componentUrl === undefined) {
    throw new HeadwaterError('INVALID_REQUEST', 'Give component_code or component_url', {
      fields: [{ path: 'component_code', message: 'Required where there is no component_url' }],
    });
  }
  const component = await fetchComponent(
    (request, signal) => options.fetch(who, request, signal),
    (files) => options.builder.listMissingFiles(who.accountId, files),
    componentUrl,
  );
  return { text: component.files[component.entry] ?? '', component, url: componentUrl };
}

function hashOf({ entry, files }: ComponentFiles): string {
  const names = Object.keys(files).toSorted();
  const text = names.length === 1 ? (files[entry] ?? '') : JSON.stringify(names.map((name) => [name, files[name]]));
  return createHash('sha256').update(text).digest('hex');
}

function checkCode({ files }: ComponentFiles): void {
  const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const message =
    bytes > LIMITS.maxComponentCodeBytes
      ? `The code has ${bytes} bytes; at most ${LIMITS.maxComponentCodeBytes} are allowed`
      : Object.values(files).some((text) => text.includes('\0'))
        ? 'The code contains a NUL character'
        : undefined;
  if (message !== undefined) throw invalid([{ path: 'component_code', message }]);
}

function checkBundle(bundle: ComponentBundle, maxBundleBytes: number): void {
  const bytes = Buffer.byteLength(bundle.code);
  if (bytes <= maxBundleBytes) return;
  const message = `The component has ${bytes} bytes with its packages; the limit maxBundleBytes is ${maxBundleBytes} bytes`;
  throw new HeadwaterError('INVALID_COMPONENT', message, {
    fields: [{ path: 'component_code', message }],
    limit: { name: 'maxBundleBytes', value: maxBundleBytes, used: bytes },
  });
}

function accept<T extends BuildOutcome | DescribeOutcome>(outcome: T): Extract<T, { ok: true }> {
  if (!outcome.ok) throw invalid(outcome.errors);
  return outcome as Extract<T, { ok: true }>;
}

function invalid(errors: readonly FieldError[]): HeadwaterError {
  const [first] = errors;
  const message = first === undefined ? 'The component cannot be loaded' : `${placeOf(first)}${first.message}`;
  return new HeadwaterError('INVALID_COMPONENT', message, { fields: errors });
}

/** A line of the code, or a part of the component that the message does not name itself. */
function placeOf({ path, message, file, line }: FieldError): string {
  if (line !== undefined) return `${file ?? 'component'}:${line}: `;
  const isNamed = path === 'component_code' || path === 'component_url' || message.startsWith(path);
  return isNamed ? '' : `${path}: `;
}
