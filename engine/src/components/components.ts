import { createHash } from 'node:crypto';
import type { BundleOutcome, DescribeOutcome, FetchOutcome, FetchRequest, Sandbox } from '@headwater/sandbox-runtime';
import { type FieldError, HeadwaterError, LIMITS, newId, notFound } from '@headwater/shared';
import type { ComponentChoice, ComponentRecord, Components, Principal } from '../contract.ts';
import { createComponent } from '../store/create-component.ts';
import type { Database } from '../store/database.ts';
import { readComponent } from '../store/read-component.ts';

export interface ComponentsOptions {
  db: Database;
  sandbox: Sandbox;
  bundle: (code: string, fileName?: string) => Promise<BundleOutcome>;
  fetch: (who: Principal, request: FetchRequest, signal: AbortSignal) => Promise<FetchOutcome>;
}

interface Code {
  text: string;
  url?: string;
}

const DEFAULT_FILE_NAME = 'component.mjs';

/** Saves and finds component code. What is saved has been bundled and loaded once: it has a name, a version and a run. */
export function createComponents(options: ComponentsOptions): Components {
  return {
    async save(who, choice) {
      const code = await codeOf(options, who, choice);
      checkSize(code.text);
      const { bundle } = accept(await options.bundle(code.text, fileNameOf(code)));
      const { description } = accept(await options.sandbox.describe(who.accountId, bundle));
      return createComponent(options.db, {
        id: newId('savedComponent'),
        accountId: who.accountId,
        ...description,
        code: code.text,
        codeHash: createHash('sha256').update(code.text).digest('hex'),
        ...(code.url === undefined ? {} : { codeUrl: code.url }),
        bundle,
      });
    },
    async get(who: Principal, idOrKey: string): Promise<ComponentRecord> {
      const found = await readComponent(options.db, who.accountId, idOrKey);
      if (found === undefined) throw notFound('component', idOrKey);
      return found;
    },
  };
}

async function codeOf(options: ComponentsOptions, who: Principal, choice: ComponentChoice): Promise<Code> {
  const { componentCode, componentUrl } = choice;
  if (componentCode !== undefined) {
    return { text: componentCode, ...(componentUrl === undefined ? {} : { url: componentUrl }) };
  }
  if (componentUrl === undefined) {
    throw new HeadwaterError('INVALID_REQUEST', 'Give component_code or component_url', {
      fields: [{ path: 'component_code', message: 'Required where there is no component_url' }],
    });
  }
  return { text: await fetchCode(options, who, componentUrl), url: componentUrl };
}

async function fetchCode(options: ComponentsOptions, who: Principal, url: string): Promise<string> {
  const refuse = (message: string) =>
    new HeadwaterError('INVALID_REQUEST', `component_url: ${message}`, {
      fields: [{ path: 'component_url', message }],
    });
  if (!/^https?:\/\//i.test(url)) throw refuse('Must be an http or https URL');
  const outcome = await options.fetch(
    who,
    { url, method: 'GET', headers: [], redirect: 'follow' },
    AbortSignal.timeout(LIMITS.fetchTimeoutMs),
  );
  if (!outcome.ok) throw refuse(outcome.message);
  if (outcome.status !== 200) throw refuse(`Answered with status ${outcome.status}`);
  return Buffer.from(outcome.body).toString('utf8');
}

function checkSize(code: string): void {
  const bytes = Buffer.byteLength(code);
  const message =
    bytes > LIMITS.maxComponentCodeBytes
      ? `The code has ${bytes} bytes; at most ${LIMITS.maxComponentCodeBytes} are allowed`
      : code.includes('\0')
        ? 'The code contains a NUL character'
        : undefined;
  if (message !== undefined) throw invalid([{ path: 'component_code', message }]);
}

function fileNameOf(code: Code): string {
  if (code.url === undefined || !URL.canParse(code.url)) return DEFAULT_FILE_NAME;
  const name = new URL(code.url).pathname.split('/').at(-1) ?? '';
  return /^[\w.-]{1,100}\.(m?[jt]s)$/.test(name) ? name : DEFAULT_FILE_NAME;
}

function accept<T extends BundleOutcome | DescribeOutcome>(outcome: T): Extract<T, { ok: true }> {
  if (!outcome.ok) throw invalid(outcome.errors);
  return outcome as Extract<T, { ok: true }>;
}

function invalid(errors: readonly FieldError[]): HeadwaterError {
  const [first] = errors;
  const place = first?.line === undefined ? '' : `${first.file ?? DEFAULT_FILE_NAME}:${first.line}: `;
  return new HeadwaterError('INVALID_COMPONENT', `${place}${first?.message ?? 'The component cannot be loaded'}`, {
    fields: errors,
  });
}
