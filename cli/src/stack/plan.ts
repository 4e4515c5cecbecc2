import { CliError, type ErrorField } from '../cli-error.ts';
import { type Comparison, differences, endsOf, findSubscription, listOf, triggerEnd } from './differences.ts';
import { findResource, isInAccount } from './find-resource.ts';
import {
  type Described,
  invalidStack,
  isFields,
  type Kind,
  STACK_KINDS,
  type StackFile,
  shownText,
} from './stack-file.ts';
import type { StackResource } from './stack-state.ts';
import { isFingerprintOf, resolveValue, secretNames, Unresolved } from './values.ts';

export interface Change {
  action: 'create' | 'update' | 'delete';
  kind: Kind;
  key: string;
  /** Absent: it is to be made. */
  id?: string;
  /** The fields of an update that differ: `props.currency`. */
  fields?: string[];
  /** It was not made from this folder, and is not deleted by it. */
  foreign?: true;
  etag?: string;
  described?: Described;
}

export interface Plan {
  /** In the order in which they are made. */
  changes: Change[];
  /** Made from the folder and no longer in it. */
  left: StackResource[];
}

/**
 * The steps that make the account as the file says. Throws with every line that is wrong.
 */
export async function makePlan(comparison: Comparison, prune: boolean): Promise<Plan> {
  const { file, account, state } = comparison;
  const errors: ErrorField[] = [];
  const changes: Change[] = [];
  for (const described of inOrder(file.resources)) {
    try {
      const change = await compare(comparison, described);
      if (change !== undefined) changes.push(change);
    } catch (error) {
      if (!(error instanceof Unresolved)) throw error;
      const { kind, key, line } = described;
      errors.push({ path: key, message: `${kind.replace('_', ' ')} ${key} ${error.message}`, file: file.file, line });
    }
  }
  if (errors.length > 0) throw invalidStack(file.file, errors);
  const described = new Set(file.resources.map(({ kind, key }) => `${kind} ${key}`));
  const left = state.resources.filter(
    ({ kind, key, id }) => !described.has(`${kind} ${key}`) && isInAccount(account, kind, id),
  );
  const byKind = left.toSorted((a, b) => STACK_KINDS.indexOf(b.kind) - STACK_KINDS.indexOf(a.kind));
  const deletions = byKind.map(({ kind, key, id }): Change => ({ action: 'delete', kind, key, id }));
  return { changes: prune ? [...changes, ...deletions] : changes, left };
}

/** Dependencies come first; a workflow comes after those whose events start it. */
function inOrder(resources: readonly Described[]): Described[] {
  const sorted = resources.toSorted((a, b) => STACK_KINDS.indexOf(a.kind) - STACK_KINDS.indexOf(b.kind));
  const workflows = sorted.filter(({ kind }) => kind === 'workflow');
  const done = new Set<string>();
  const placed: Described[] = [];
  const place = (one: Described) => {
    if (done.has(one.key)) return;
    done.add(one.key);
    for (const trigger of listOf(one.fields['triggers'])) {
      const from = shownText(trigger['source']).replace(/^workflow:/, '');
      const before = workflows.find(({ key }) => key === from);
      if (before !== undefined) place(before);
    }
    placed.push(one);
  };
  workflows.forEach(place);
  const first = sorted.findIndex(({ kind }) => kind === 'workflow');
  return first === -1 ? sorted : sorted.toSpliced(first, workflows.length, ...placed);
}

async function compare(comparison: Comparison, described: Described): Promise<Change | undefined> {
  const { account, state, places } = comparison;
  const { kind, key, fields } = described;
  refuseSecretsInFile(described);
  const id = kind === 'subscription' ? findSubscription(comparison, fields) : findResource(account, state, described);
  const secrets = kind === 'environment_variable' ? [key] : secretNames(fields);
  if (id === undefined) {
    if (fields['id'] !== undefined)
      throw new Unresolved(`has the id ${shownText(fields['id'])}, which the account has not`);
    const missing = secrets.filter((name) => places.environment[name] === undefined);
    if (missing.length > 0) throw new Unresolved(`needs the environment variable ${missing.join(', ')}`);
    checkReferences(comparison, described);
    return { action: 'create', kind, key, described };
  }
  const { changed, etag, hidden = [] } = await differences(comparison, described, id);
  const made = state.resources.find((one) => one.kind === kind && one.id === id);
  if (!isFingerprintOf(made?.secrets, { names: secrets, hidden }, places))
    changed.push(kind === 'environment_variable' ? 'value' : 'secrets');
  if (changed.length === 0) return undefined;
  return {
    action: 'update',
    kind,
    key,
    id,
    fields: changed,
    described,
    ...(made === undefined ? { foreign: true as const } : {}),
    ...(etag === undefined ? {} : { etag }),
  };
}

const SECRET_FIELDS = new Set(['secret', 'client_key', 'password', 'token', 'client_secret']);

/** A secret in a file ends in a repository. */
function refuseSecretsInFile({ kind, fields }: Described): void {
  if (kind !== 'webhook') return;
  const auth = isFields(fields['auth']) ? fields['auth'] : {};
  for (const [name, value] of [...Object.entries(fields), ...Object.entries(auth)])
    if (SECRET_FIELDS.has(name) && typeof value === 'string')
      throw new Unresolved(`has ${name} in the file; give it from the environment: ${name}: { $env: NAME }`);
}

/** Accepts names of resources that are not created yet. Throws for unknown names. */
function checkReferences(comparison: Comparison, { kind, fields }: Described): void {
  resolveValue(fields['props'], comparison.places, true);
  if (kind === 'workflow') for (const trigger of listOf(fields['triggers'])) triggerEnd(comparison, trigger);
  if (kind === 'subscription') endsOf(comparison, fields);
}

/** An error of the server, or of a value, with the line of the thing that was to be made. */
export function planError(
  { file }: StackFile,
  { line, kind, key }: Described,
  { exit, message, code, hint, fields }: CliError,
): CliError {
  const told = `${kind.replace('_', ' ')} ${key}: ${message}`;
  return new CliError(exit, `${file}:${line}: ${told}`, {
    code,
    ...(hint === undefined ? {} : { hint }),
    fields: [{ path: key, message: told, file, line }, ...fields.filter((field) => field.message !== message)],
  });
}
