const toStringTag = (value: unknown): string => Object.prototype.toString.call(value);
const typedArrayTag = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype) as object,
  Symbol.toStringTag,
)?.get as (this: unknown) => string | undefined;

function tag(name: string): (value: unknown) => boolean {
  return (value) => typeof value === 'object' && value !== null && toStringTag(value) === `[object ${name}]`;
}

/**
 * Asks for an internal slot, which no tag can imitate: the getter or method throws for anything
 * else.
 */
function slot(probe: (value: never) => unknown): (value: unknown) => boolean {
  return (value) => {
    try {
      probe(value as never);
      return true;
    } catch {
      // Not one of these: that is the answer.
      return false;
    }
  };
}

const functionKind =
  (kind: string) =>
  (value: unknown): boolean =>
    typeof value === 'function' && toStringTag(value) === `[object ${kind}]`;

const isMap = slot((value: Map<unknown, unknown>) => Map.prototype.has.call(value, 0));
const isSet = slot((value: Set<unknown>) => Set.prototype.has.call(value, 0));
const isDate = slot((value: Date) => Date.prototype.getTime.call(value));
const isArrayBuffer = slot((value: ArrayBuffer) => ArrayBuffer.prototype.slice.call(value, 0, 0));
const isTypedArray = (value: unknown): boolean => typedArrayTag.call(value) !== undefined;
const isBoxedPrimitive = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  ['Number', 'String', 'Boolean', 'BigInt', 'Symbol'].some((name) => toStringTag(value) === `[object ${name}]`);

const typedArrays = [
  'Uint8',
  'Uint8Clamped',
  'Uint16',
  'Uint32',
  'Int8',
  'Int16',
  'Int32',
  'Float16',
  'Float32',
  'Float64',
  'BigInt64',
  'BigUint64',
];

/** `util.types`. */
export const types = {
  isMap,
  isSet,
  isDate,
  isArrayBuffer,
  isAnyArrayBuffer: isArrayBuffer,
  isSharedArrayBuffer: () => false,
  isTypedArray,
  isArrayBufferView: (value: unknown) => ArrayBuffer.isView(value),
  isDataView: (value: unknown) => ArrayBuffer.isView(value) && !isTypedArray(value),
  isPromise: (value: unknown) => value instanceof Promise,
  isRegExp: (value: unknown) => value instanceof RegExp,
  isNativeError: (value: unknown) => value instanceof Error && tag('Error')(value),
  isWeakMap: (value: unknown) => value instanceof WeakMap,
  isWeakSet: (value: unknown) => value instanceof WeakSet,
  isBoxedPrimitive,
  isNumberObject: tag('Number'),
  isStringObject: tag('String'),
  isBooleanObject: tag('Boolean'),
  isBigIntObject: tag('BigInt'),
  isSymbolObject: tag('Symbol'),
  isArgumentsObject: tag('Arguments'),
  isMapIterator: tag('Map Iterator'),
  isSetIterator: tag('Set Iterator'),
  isGeneratorObject: tag('Generator'),
  isModuleNamespaceObject: tag('Module'),
  isAsyncFunction: (value: unknown) =>
    functionKind('AsyncFunction')(value) || functionKind('AsyncGeneratorFunction')(value),
  isGeneratorFunction: (value: unknown) =>
    functionKind('GeneratorFunction')(value) || functionKind('AsyncGeneratorFunction')(value),
  isProxy: () => false,
  isExternal: () => false,
  isKeyObject: tag('KeyObject'),
  isCryptoKey: tag('CryptoKey'),
  ...Object.fromEntries(
    typedArrays.map((name) => [`is${name}Array`, (value: unknown) => typedArrayTag.call(value) === `${name}Array`]),
  ),
};
