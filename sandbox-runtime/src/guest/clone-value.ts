// oxlint-disable import/no-unassigned-import -- core-js installs what its modules are named after
import 'core-js/actual/structured-clone';
import { applyFunction } from './intrinsics.ts';
import { missingArguments, nativeError } from './node/errors.ts';

interface CloneOptions {
  transfer?: unknown[];
}

const clone = globalThis.structuredClone;
const NAME = 'structuredClone';
const { toString: functionToString } = Function.prototype;
const { toString: objectToString } = Object.prototype;
/** The kinds that the package cannot copy, by its messages. */
const UNCLONEABLE = /^Uncloneable type: (\w+)/;
const NO_TRANSFER = /^This object cannot be transferred/;
const TWICE = /^Duplicate transferable/;
const DETACHED = /^ArrayBuffer is detached/;
const MAX_SOUGHT = 10_000;

/** `structuredClone` with the errors of Node: the name is the standard's, the words are V8's. */
export function cloneValue(value?: unknown, options?: CloneOptions): unknown {
  if (arguments.length === 0) throw missingArguments('The value argument must be specified');
  requireOptions(options);
  try {
    return clone(value, options as Parameters<typeof clone>[1]);
  } catch (error) {
    throw error instanceof DOMException ? asInNode(error, value) : error;
  }
}
Object.defineProperty(cloneValue, 'name', { value: NAME });
Object.defineProperty(cloneValue, 'length', { value: 1 });

function requireOptions(options: unknown): void {
  if (options === undefined || options === null) return;
  const refuse = (why: string): Error =>
    nativeError('ERR_INVALID_ARG_TYPE', `Failed to execute '${NAME}': ${why}`, TypeError);
  if (typeof options !== 'object' && typeof options !== 'function')
    throw refuse('Options cannot be converted to a dictionary');
  const { transfer } = options as CloneOptions;
  if (transfer === undefined) return;
  if (typeof transfer !== 'object' || transfer === null || typeof transfer[Symbol.iterator] !== 'function')
    throw refuse('transfer in Options cannot be converted to sequence.');
  if (!Array.isArray(transfer)) return;
  const at = transfer.findIndex((item) => typeof item !== 'object' || item === null);
  if (at !== -1) throw refuse(`transfer in Options[${at}] is not an object.`);
}

function asInNode(error: DOMException, value: unknown): DOMException {
  const { message } = error;
  const told = (text: string): DOMException => new DOMException(text, 'DataCloneError');
  if (NO_TRANSFER.test(message)) return told('Found invalid value in transferList.');
  if (TWICE.test(message)) return told('Transfer list contains duplicate ArrayBuffer');
  if (DETACHED.test(message)) return told('An ArrayBuffer is detached and could not be cloned.');
  const type = UNCLONEABLE.exec(message)?.[1];
  if (type === undefined) return error;
  const found = findUncloneable(value, type);
  return found === undefined ? error : told(describe(found.value));
}

function describe(value: unknown): string {
  if (typeof value === 'function')
    return `${applyFunction(functionToString, value, []) as string} could not be cloned.`;
  if (typeof value !== 'object' || value === null) return `${String(value)} could not be cloned.`;
  const { constructor } = value as { constructor?: { name?: unknown } };
  const name = typeof constructor?.name === 'string' ? constructor.name : '';
  // Classes of the web are objects of the platform: they have a name of their own for that.
  if (name !== '' && inWeb(value, name)) return 'Cannot clone object of unsupported type.';
  const tag = applyFunction(objectToString, value, []) as string;
  return name === '' || name === 'Symbol' || tag === '[object Generator]'
    ? `${tag} could not be cloned.`
    : `#<${name}> could not be cloned.`;
}

function inWeb(value: object, name: string): boolean {
  const known: unknown = (globalThis as Record<string, unknown>)[name];
  if (typeof known !== 'function' || !(value instanceof known)) return false;
  return !/^(?:WeakMap|WeakSet|WeakRef|Promise|Symbol|FinalizationRegistry)$/.test(name);
}

/** The first part of a value, in the order of copying, that is of a type which cannot be copied. */
function findUncloneable(value: unknown, type: string): { value: unknown } | undefined {
  const seen = new Set<unknown>();
  const stack: unknown[] = [value];
  while (stack.length > 0 && seen.size < MAX_SOUGHT) {
    const one = stack.pop();
    if (isOfType(one, type)) return { value: one };
    if (typeof one !== 'object' || one === null || seen.has(one)) continue;
    seen.add(one);
    stack.push(...partsOf(one).reverse());
  }
  return undefined;
}

function isOfType(value: unknown, type: string): boolean {
  if (typeof value === 'function') return type.endsWith('Function');
  if (typeof value === 'symbol') return type === 'Symbol';
  return (
    typeof value === 'object' &&
    value !== null &&
    (applyFunction(objectToString, value, []) as string).slice(8, -1) === type
  );
}

function partsOf(value: object): unknown[] {
  if (value instanceof Map) return [...value].flat(1);
  if (value instanceof Set) return [...value];
  if (value instanceof Error) return [value.cause];
  const parts: unknown[] = [];
  for (const key of Object.keys(value)) parts.push((value as Record<string, unknown>)[key]);
  return parts;
}
