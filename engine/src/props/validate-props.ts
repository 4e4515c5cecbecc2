import {
  didYouMean,
  type ExceededLimit,
  type FieldError,
  hasExpression,
  HeadwaterError,
  LIMITS,
  type PropDefinition,
} from '@headwater/shared';
import { timerCheck } from '../schedule/index.ts';
import { findTypeProblem } from './prop-type-problem.ts';
import { appSlugOf, dataStoreIdOf, type PropReferences, provisionIdOf } from './prop-references.ts';
import { withoutLabels } from './without-labels.ts';

/** `partial`: values of an unfinished form; missing ones are no error. */
export type Completeness = 'complete' | 'partial';

/** The problem of the expressions in a prop's value; undefined if there is none. */
export type ExpressionCheck = (value: unknown, propName: string) => string | undefined;

export interface ValidateOptions {
  /** Default: complete. */
  completeness?: Completeness;
  /**
   * Names that were given now; each must be that of a prop, unless it is given null to take it
   * away. Default: none is judged.
   */
  names?: { given: Readonly<Record<string, unknown>>; known: readonly string[] } | undefined;
  /**
   * Values that hold expressions are checked with this, and not against their type, which is known
   * when they are worked out.
   */
  expressions?: ExpressionCheck | undefined;
}

/**
 * Checks configured props against their definitions and fills in defaults. Every wrong prop is
 * reported at once. Static `options` are suggestions: other values of the type are taken. Answers
 * the values to store.
 *
 * Throws INVALID_PROPS, with the first limit that a value goes over.
 */
export function validateProps(
  definitions: readonly PropDefinition[],
  given: Readonly<Record<string, unknown>>,
  references: PropReferences,
  { completeness = 'complete', names, expressions }: ValidateOptions = {},
): Record<string, unknown> {
  const errors: FieldError[] = names === undefined ? [] : findUnknownProps(names.given, names.known);
  const values: Record<string, unknown> = {};
  let limit: ExceededLimit | undefined;
  const checkTimer = timerCheck();
  for (const definition of definitions) {
    if (!isConfigured(definition)) continue;
    const own = Object.hasOwn(given, definition.name) ? given[definition.name] : undefined;
    const value = withoutLabels(definition, own ?? defaultOf(definition));
    const isMissing = value === undefined || value === null;
    const problem = isMissing
      ? findMissing(definition, references, completeness)
      : findProblem(definition, value, references, expressions, checkTimer);
    if (problem !== undefined) {
      const { message, limit: exceeded } = typeof problem === 'string' ? { message: problem } : problem;
      limit ??= exceeded;
      errors.push({ path: `configured_props.${definition.name}`, message });
    } else if (!isMissing)
      Object.defineProperty(values, definition.name, { value: storedForm(definition, value), enumerable: true });
  }
  if (errors.length > 0) throw invalidProps(errors, limit === undefined ? {} : { limit });
  return values;
}

/** A value without a prop of its name would be ignored, although the caller relies on it. */
function findUnknownProps(given: Readonly<Record<string, unknown>>, known: readonly string[]): FieldError[] {
  const names = new Set(known);
  return Object.entries(given).flatMap(([name, value]) => {
    if (names.has(name) || value === null || value === undefined) return [];
    return [{ path: `configured_props.${name}`, message: `There is no such prop: ${didYouMean(name, known)}` }];
  });
}

/** Throws INVALID_PROPS where a value is given under a name that is not `known`; null is none. */
export function requireKnownProps(given: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const errors = findUnknownProps(given, known);
  if (errors.length > 0) throw invalidProps(errors);
}

/** Timers of many public components say `static` where others say `default`. */
function defaultOf(definition: PropDefinition): unknown {
  return definition.default ?? (definition.type === '$.interface.timer' ? definition['static'] : undefined);
}

export function invalidProps(
  errors: readonly FieldError[],
  details: { limit?: ExceededLimit; cause?: unknown } = {},
): HeadwaterError {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new HeadwaterError('INVALID_PROPS', `${first?.path}: ${first?.message}${more}`, {
    ...details,
    fields: errors,
  });
}

/**
 * Whether there is anything to give: an endpoint is made, a text is only shown, and `dir` is a
 * folder that every run has.
 */
function isConfigured({ type }: PropDefinition): boolean {
  return type !== '$.interface.http' && type !== '$.service.db' && type !== 'alert' && type !== 'dir';
}

function findMissing(
  definition: PropDefinition,
  { apps }: PropReferences,
  completeness: Completeness,
): string | undefined {
  // A user cannot fill in a prop that is hidden or disabled.
  const { optional, hidden, disabled } = definition as { optional?: boolean; hidden?: unknown; disabled?: unknown };
  if (completeness === 'partial' || optional === true || hidden === true || disabled === true) return undefined;
  if (isUnavailable(definition)) return unavailable(definition);
  if (definition.type !== 'app') return 'A value is required';
  const slug = appSlugOf(definition);
  const app = apps.get(slug);
  if (app === undefined) return unknownApp(slug);
  if (app.authType === 'none') return undefined;
  return `A connected account of ${app.name} is required: { "authProvisionId": "apn_…" }`;
}

interface Excess {
  message: string;
  limit: ExceededLimit;
}

function findProblem(
  definition: PropDefinition,
  value: unknown,
  references: PropReferences,
  expressions: ExpressionCheck | undefined,
  checkTimer: ReturnType<typeof timerCheck>,
): string | Excess | undefined {
  if (isUnavailable(definition)) return unavailable(definition);
  if (hasSealedKey(value)) return 'The key $sealed is reserved';
  if (definition.type === 'app') return findAppProblem(definition, value, references);
  if (definition.type === 'data_store') return findStoreProblem(value, references);
  // A text has the size it was written with: quotes and escapes are not its own.
  const bytes = Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
  const max = LIMITS.maxPropValueBytes;
  if (bytes > max) {
    const message = `The value has ${bytes} bytes; at most ${max} are allowed`;
    return { message, limit: { name: 'maxPropValueBytes', value: max, used: bytes } };
  }
  if (expressions !== undefined && hasExpression(value)) return expressions(value, definition.name);
  return definition.type === '$.interface.timer' ? checkTimer(value) : findTypeProblem(definition, value);
}

/**
 * Only we may store this form: it is opened with the account's key when the component runs, and
 * looked for when a node starts.
 */
function hasSealedKey(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, '$sealed');
}

/** Interfaces that belong to one app, such as `$.interface.apphook`. */
function isUnavailable({ type }: PropDefinition): boolean {
  return type.startsWith('$.') && type !== '$.interface.timer';
}

function unavailable({ type }: PropDefinition): string {
  return `Props of type ${type} are not available; use $.interface.http and register its endpoint`;
}

function findAppProblem(
  definition: PropDefinition,
  value: unknown,
  { apps, provisions }: PropReferences,
): string | undefined {
  const slug = appSlugOf(definition);
  const id = provisionIdOf(value);
  const app = apps.get(slug);
  if (app === undefined) return unknownApp(slug);
  if (id === undefined) {
    const isEmpty = typeof value === 'object' && (value as { authProvisionId?: unknown }).authProvisionId === undefined;
    // A form sends this for an app that needs no account.
    if (isEmpty && (app.authType === 'none' || definition.optional === true)) return undefined;
    return 'Expected { "authProvisionId": "apn_…" }';
  }
  const found = provisions.get(id);
  if (found === undefined) return `There is no connected account ${id} in this account`;
  return found === slug ? undefined : `The connected account ${id} is of the app ${found}, not of ${slug}`;
}

function unknownApp(slug: string): string {
  return `The app ${JSON.stringify(slug)} is not in the catalogue (GET /v1/apps); the operator can add it`;
}

function findStoreProblem(value: unknown, { dataStores }: PropReferences): string | undefined {
  const id = dataStoreIdOf(value);
  if (id === undefined) return 'Expected the id of a data store: "ds_…"';
  return dataStores.has(id) ? undefined : `There is no data store ${id} in this account`;
}

/** One form of each value is stored, whichever was given. */
function storedForm({ type }: PropDefinition, value: unknown): unknown {
  if (type === 'data_store') return dataStoreIdOf(value);
  if (type !== 'app') return value;
  const id = provisionIdOf(value);
  return id === undefined ? {} : { authProvisionId: id };
}
