import { toText } from '../intrinsics.ts';
import { isDeepEqual } from './deep-equal.ts';
import { codedError, invalidArgument, invalidValue, missingArguments, received, requireFunction } from './errors.ts';
import { giveName } from './give-names.ts';
import { inspect } from './inspect.ts';

interface Failure {
  message?: unknown;
  actual?: unknown;
  expected?: unknown;
  operator: string;
}

const SAYS: Record<string, string> = {
  deepEqual: 'Expected values to be loosely deep-equal:',
  deepStrictEqual: 'Expected values to be strictly deep-equal:',
  equal: 'Expected values to be loosely equal:',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notEqual: 'Expected "actual" to be loosely unequal to:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  strictEqual: 'Expected values to be strictly equal:',
};

const OPERATORS: Readonly<Record<string, string>> = { equal: '==', notEqual: '!=' };

class AssertionError extends Error {
  readonly code = 'ERR_ASSERTION';
  readonly actual: unknown;
  readonly expected: unknown;
  readonly operator: string;
  readonly generatedMessage: boolean;
  readonly diff = 'simple';

  constructor(options: Failure) {
    if (typeof options !== 'object' || options === null) throw invalidArgument('options', 'of type object', options);
    const { message, actual, expected, operator } = options;
    super(message === undefined ? describe(options) : (message as string));
    Object.defineProperty(this, 'name', { value: 'AssertionError', writable: true, configurable: true });
    this.actual = actual;
    this.expected = expected;
    this.operator = OPERATORS[operator] ?? operator;
    this.generatedMessage = message === undefined;
  }

  override toString(): string {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
}

function describe({ actual, expected, operator }: Failure): string {
  const says = SAYS[operator];
  // Short ones are told as the expression that they stand for.
  if ((operator === 'equal' || operator === 'notEqual') && isShort(actual) && isShort(expected))
    return `${inspect(actual)} ${operator === 'equal' ? '==' : '!='} ${inspect(expected)}`;
  if (says === undefined) return `${inspect(actual)} ${operator} ${inspect(expected)}`;
  return operator.startsWith('not')
    ? `${says} ${inspect(expected)}`
    : `${says}\n\n${inspect(actual)} !== ${inspect(expected)}\n`;
}

function isShort(value: unknown): boolean {
  return typeof value !== 'object' && typeof value !== 'function' && inspect(value).length < 30;
}

function fail(failure: Failure): never {
  if (failure.message instanceof Error) throw failure.message;
  throw new AssertionError(failure);
}

type Check = (actual: unknown, expected: unknown) => boolean;

function comparison(operator: string, holds: Check) {
  return function compare(actual?: unknown, expected?: unknown, message?: unknown): void {
    if (arguments.length < 2) throw missingArguments('actual', 'expected');
    if (!holds(actual, expected)) fail({ message, actual, expected, operator });
  };
}

function matching(operator: string, says: string, wanted: boolean) {
  return (text: unknown, pattern: unknown, message?: unknown): void => {
    if (!(pattern instanceof RegExp)) throw invalidArgument('regexp', 'an instance of RegExp', pattern);
    if (typeof text === 'string' && pattern.test(text) === wanted) return;
    const told =
      typeof text === 'string'
        ? `${says} ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`
        : `The "string" argument must be of type string. Received ${received(text)}`;
    fail({ message: message ?? told, actual: text, expected: pattern, operator });
  };
}

function ok(value: unknown, message?: unknown): void {
  if (value) return;
  const says = 'The expression evaluated to a falsy value';
  fail({ message: message ?? says, actual: value, expected: true, operator: '==' });
}

type Expected = RegExp | ErrorConstructor | ((error: unknown) => unknown) | Record<string, unknown> | undefined;

/** Checks an error against the second argument of `throws` and `rejects`. */
function judgeError(error: unknown, expected: Expected, message: unknown, operator: string): void {
  if (expected === undefined) return;
  if (expected instanceof RegExp) {
    if (!expected.test(error as string)) fail({ message, actual: error, expected, operator });
  } else if (typeof expected === 'function') {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (expected === Error || Object.prototype.isPrototypeOf.call(Error, expected))
      fail({ message: message ?? notOfClass(error, expected), actual: error, expected, operator });
    if ((expected as (error: unknown) => unknown).call({}, error) !== true)
      fail({ message, actual: error, expected, operator });
  } else {
    if (typeof expected !== 'object' || expected === null)
      throw invalidArgument('error', 'of type function or an instance of Error, RegExp, or Object', expected);
    const keys = Object.keys(expected);
    if (expected instanceof Error) keys.push('name', 'message');
    else if (keys.length === 0) throw invalidValue('error', '{}', 'may not be an empty object');
    if (typeof error !== 'object' || error === null) fail({ message, actual: error, expected, operator });
    for (const key of keys) {
      const wanted = expected[key];
      const found = (error as Record<string, unknown>)[key];
      const matches =
        wanted instanceof RegExp && typeof found === 'string' ? wanted.test(found) : isDeepEqual(found, wanted);
      if (!matches) fail({ message, actual: error, expected, operator });
    }
  }
}

function notOfClass(error: unknown, { name }: { name: string }): string {
  const { message, constructor } = (error ?? {}) as { message?: unknown; constructor?: { name?: unknown } };
  if (!(error instanceof Error))
    return `The error is expected to be an instance of "${name}". Received ${inspect(error)}`;
  const found = typeof constructor?.name === 'string' ? constructor.name : error.name;
  return `The error is expected to be an instance of "${name}". Received "${found}"\n\nError message:\n\n${toText(message)}`;
}

function splitExpected(expected: unknown, message: unknown): { expected: Expected; message: unknown } {
  return typeof expected === 'string'
    ? { expected: undefined, message: expected }
    : { expected: expected as Expected, message };
}

function throws(work: () => unknown, expected?: unknown, message?: unknown): void {
  requireFunction('fn', work);
  const judged = splitExpected(expected, message);
  let thrown: { error: unknown } | undefined;
  try {
    work();
  } catch (error) {
    thrown = { error };
  }
  if (thrown === undefined) fail({ message: missing('exception', judged), operator: 'throws' });
  requireUnlike(thrown.error, expected);
  judgeError(thrown.error, judged.expected, judged.message, 'throws');
}

function missing(what: string, { expected, message }: { expected: Expected; message: unknown }): unknown {
  if (message instanceof Error) return message;
  const name = typeof expected === 'function' && expected.name !== '' ? ` (${expected.name})` : '';
  return `Missing expected ${what}${name}${message === undefined ? '.' : `: ${toText(message)}`}`;
}

/**
 * Rejects a text equal to the error's own message: the caller probably meant to compare the two.
 */
function requireUnlike(error: unknown, message: unknown): void {
  if (typeof message !== 'string') return;
  const isText = typeof error !== 'object' || error === null;
  if ((isText ? error : (error as { message?: unknown }).message) === message)
    throw codedError(
      'ERR_AMBIGUOUS_ARGUMENT',
      `The "error/message" argument is ambiguous. The error ${isText ? '' : 'message '}"${message}" is identical to the message.`,
      TypeError,
    );
}

/** An expected class or pattern lets other errors through, as they were thrown. */
function isUnwanted(error: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) return expected.test(String(error));
  if (typeof expected !== 'function') return true;
  return error instanceof (expected as ErrorConstructor);
}

function unwanted(what: string, error: unknown, message: unknown, operator: string): never {
  const said = typeof message === 'string' ? `: ${message}` : '.';
  const actual = (error as { message?: unknown } | null)?.message;
  fail({ message: `Got unwanted ${what}${said}\nActual message: "${String(actual)}"`, actual: error, operator });
}

function messageOf([expected, message]: unknown[]): unknown {
  return typeof expected === 'string' ? expected : message;
}

interface Started {
  promise: PromiseLike<unknown>;
}

/** An error that a function throws at once goes to the caller, as in Node. */
function start(work: unknown): Started {
  const made: unknown = typeof work === 'function' ? (work as () => unknown)() : work;
  if (typeof (made as PromiseLike<unknown> | null)?.then === 'function')
    return { promise: made as PromiseLike<unknown> };
  if (typeof work !== 'function')
    throw invalidArgument('promiseFn', 'of type function or an instance of Promise', work);
  throw codedError(
    'ERR_INVALID_RETURN_VALUE',
    `Expected instance of Promise to be returned from the "promiseFn" function but got ${received(made)}.`,
    TypeError,
  );
}

async function rejects(work: unknown, expected?: unknown, message?: unknown): Promise<void> {
  const judged = splitExpected(expected, message);
  const { promise } = start(work);
  let thrown: { error: unknown } | undefined;
  try {
    await promise;
  } catch (error) {
    thrown = { error };
  }
  if (thrown === undefined) fail({ message: missing('rejection', judged), operator: 'rejects' });
  requireUnlike(thrown.error, expected);
  judgeError(thrown.error, judged.expected, judged.message, 'rejects');
}

function doesNotThrow(work: () => unknown, ...told: unknown[]): void {
  requireFunction('fn', work);
  try {
    work();
  } catch (error) {
    if (!isUnwanted(error, told[0])) throw error;
    unwanted('exception', error, messageOf(told), 'doesNotThrow');
  }
}

async function doesNotReject(work: unknown, ...told: unknown[]): Promise<void> {
  const { promise } = start(work);
  try {
    await promise;
  } catch (error) {
    if (!isUnwanted(error, told[0])) throw error;
    unwanted('rejection', error, messageOf(told), 'doesNotReject');
  }
}

// oxlint-disable eqeqeq -- these compare as Node's assert says they do
const looseEqual: Check = (a, b) => a == b || (Number.isNaN(a) && Number.isNaN(b));
// oxlint-enable eqeqeq

/** `assert`; the strict one has the strict comparisons under the loose names. */
export function makeAssert(): Record<string, unknown> {
  const strictOnes = {
    strictEqual: comparison('strictEqual', Object.is),
    notStrictEqual: comparison('notStrictEqual', (a, b) => !Object.is(a, b)),
    deepStrictEqual: comparison('deepStrictEqual', (a, b) => isDeepEqual(a, b)),
    notDeepStrictEqual: comparison('notDeepStrictEqual', (a, b) => !isDeepEqual(a, b)),
  };
  const others = {
    AssertionError,
    ok,
    fail: (message: unknown = 'Failed') => fail({ message, operator: 'fail' }),
    throws,
    rejects,
    doesNotThrow,
    doesNotReject,
    match: matching('match', 'The input did not match the regular expression', true),
    doesNotMatch: matching('doesNotMatch', 'The input was expected to not match the regular expression', false),
    ifError: (error: unknown) => {
      if (error !== null && error !== undefined)
        fail({
          message: `ifError got unwanted exception: ${error instanceof Error ? error.message : inspect(error)}`,
          actual: error,
          expected: null,
          operator: 'ifError',
        });
    },
  };
  const loose = {
    equal: comparison('equal', looseEqual),
    notEqual: comparison('notEqual', (a, b) => !looseEqual(a, b)),
    deepEqual: comparison('deepEqual', (a, b) => isDeepEqual(a, b, false)),
    notDeepEqual: comparison('notDeepEqual', (a, b) => !isDeepEqual(a, b, false)),
  };
  const {
    strictEqual: equal,
    notStrictEqual: notEqual,
    deepStrictEqual: deepEqual,
    notDeepStrictEqual: notDeepEqual,
  } = strictOnes;
  const assert = (value: unknown, message?: unknown): void => ok(value, message);
  const strict = (value: unknown, message?: unknown): void => ok(value, message);
  Object.assign(strict, others, strictOnes, { equal, notEqual, deepEqual, notDeepEqual, strict });
  giveName(assert, 'ok');
  giveName(strict, 'strict');
  return Object.assign(assert, others, strictOnes, loose, { strict }) as unknown as Record<string, unknown>;
}
