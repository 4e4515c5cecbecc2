import { applyFunction, sliceText, toText } from './intrinsics.ts';

/** As many runs of an isolate may fail before the first of them is asked about. */
const MAX_KEPT = 32;
const MAX_CALLS = 100;
const MAX_MESSAGE_CHARS = 4_096;
/** isolated-vm says this of a thrown object that has neither a message nor a stack. */
const NO_ERROR = 'isolated-vm';
const { indexOf } = String.prototype;
const { defineProperty } = Object;

interface Thrown {
  value: unknown;
  /** Number of the process's call into the isolate, during which its stack was read. */
  call: number;
}

/**
 * Values whose `stack` was read last. isolated-vm reads it from the reason of an unhandled
 * rejection and passes on name, message and stack alone. The values themselves have more to tell.
 */
const kept: Thrown[] = [];
let call = 0;

/** Values of calls that are long past are let go: of a rejection in one, the process has told. */
export function countCall(): void {
  call += 1;
  let old = 0;
  while (old < kept.length && (kept[old] as Thrown).call < call - MAX_CALLS) old += 1;
  if (old > 0) dropFirst(old);
}

function dropFirst(count: number): void {
  for (let index = count; index < kept.length; index += 1) kept[index - count] = kept[index] as Thrown;
  kept.length -= count;
}

export function keepThrown(value: unknown): void {
  const last = kept[kept.length - 1];
  // A reason is read last in its call.
  if (last?.call === call) {
    last.value = value;
    return;
  }
  if (kept.length === MAX_KEPT) dropFirst(1);
  kept[kept.length] = { value, call };
}

/** The value that was read last in that call, if it has this message. */
function findThrown(message: string, during: unknown): object | undefined {
  for (let index = 0; index < kept.length; index += 1) {
    const { value, call: readDuring } = kept[index] as Thrown;
    if (readDuring === during) return isThrown(value, message) ? value : undefined;
  }
  return undefined;
}

/**
 * The reason of a rejection of which the process got a copy: `message` and what else was copied.
 * Without a message the reason is no object, and was copied whole.
 */
export function reasonOf(copied: unknown): unknown {
  const { value, digits, name, message, stack, shown, call: during } = copied as Record<string, unknown>;
  if (digits !== undefined) return BigInt(digits as string);
  if (message === undefined) return value;
  const found = findThrown(toText(message), during);
  if (found !== undefined) return found;
  const error = new Error(toText(shown));
  const hidden = { writable: true, configurable: true };
  if (name !== undefined) defineProperty(error, 'name', { ...hidden, value: name });
  defineProperty(error, 'stack', { ...hidden, value: stack });
  return error;
}

function isThrown(value: unknown, message: string): value is object {
  try {
    const own = (value as { message?: unknown }).message;
    return own === undefined
      ? applyFunction(indexOf, message, [NO_ERROR]) !== -1
      : sliceText(toText(own), 0, MAX_MESSAGE_CHARS) === message;
  } catch {
    return false;
  }
}

/**
 * Lets the guest see a thrown value that is no error. For everything else the property is as good
 * as absent: it reads as undefined, is not listed, and assigning it makes an own property.
 */
export function watchThrownObjects(): void {
  defineProperty(Object.prototype, 'stack', {
    configurable: true,
    enumerable: false,
    get(this: unknown) {
      keepThrown(this);
    },
    set(this: unknown, value: unknown) {
      defineProperty(this as object, 'stack', { value, writable: true, enumerable: true, configurable: true });
    },
  });
}
