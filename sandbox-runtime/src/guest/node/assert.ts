import { isDeepEqual } from './deep-equal.ts';
import { codedError } from './errors.ts';
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

class AssertionError extends Error {
  readonly code = 'ERR_ASSERTION';
  readonly actual: unknown;
  readonly expected: unknown;
  readonly operator: string;
  readonly generatedMessage: boolean;

  constructor(options: Failure) {
    const { message, actual, expected, operator } = options;
    super(message === undefined ? describe(options) : (message as string));
    Object.defineProperty(this, 'name', { value: 'AssertionError', writable: true, configurable: true });
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
    this.generatedMessage = message === undefined;
  }
}

function describe({ actual, expected, operator }: Failure): string {
  const says = SAYS[operator];
  if (says === undefined) return `${inspect(actual)} ${operator} ${inspect(expected)}`;
  return operator.startsWith('not')
    ? `${says} ${inspect(expected)}`
    : `${says}\n\n${inspect(actual)} !== ${inspect(expected)}\n`;
}

function fail(failure: Failure): never {
  if (failure.message instanceof Error) throw failure.message;
  throw new AssertionError(failure);
}

type Check = (actual: unknown, expected: unknown) => boolean;

function comparison(operator: string, holds: Check) {
  return (actual: unknown, expected: unknown, message?: unknown): void => {
    if (!holds(actual, expected)) fail({ message, actual, expected, operator });
  };
}

function ok(value: unknown, message?: unknown): void {
  if (value) return;
  const says = 'The expression evaluated to a falsy value';
  fail({ message: message ?? says, actual: value, expected: true, operator: '==' });
}

type Expected = RegExp | ErrorConstructor | ((error: unknown) => unknown) | Record<string, unknown> | undefined;

/** What `throws` and `rejects` take as their second argument. */
function judgeError(error: unknown, expected: Expected, message: unknown, operator: string): void {
  if (expected === undefined) return;
  if (expected instanceof RegExp) {
    if (!expected.test(error as string)) fail({ message, actual: error, expected, operator });
  } else if (typeof expected === 'function') {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (Object.prototype.isPrototypeOf.call(Error, expected)) throw error;
    if ((expected as (error: unknown) => unknown).call({}, error) !== true)
      fail({ message, actual: error, expected, operator });
  } else {
    for (const key of Object.keys(expected)) {
      const wanted = expected[key];
      const found = (error as Record<string, unknown>)[key];
      const matches =
        wanted instanceof RegExp && typeof found === 'string' ? wanted.test(found) : isDeepEqual(found, wanted);
      if (!matches) fail({ message, actual: error, expected, operator });
    }
  }
}

function splitExpected(expected: unknown, message: unknown): { expected: Expected; message: unknown } {
  return typeof expected === 'string'
    ? { expected: undefined, message: expected }
    : { expected: expected as Expected, message };
}

function throws(work: () => unknown, expected?: unknown, message?: unknown): void {
  const judged = splitExpected(expected, message);
  let thrown: { error: unknown } | undefined;
  try {
    work();
  } catch (error) {
    thrown = { error };
  }
  if (thrown === undefined) fail({ message: judged.message ?? 'Missing expected exception.', operator: 'throws' });
  judgeError(thrown.error, judged.expected, judged.message, 'throws');
}

function start(work: unknown): unknown {
  return typeof work === 'function' ? (work as () => unknown)() : work;
}

async function rejects(work: unknown, expected?: unknown, message?: unknown): Promise<void> {
  const judged = splitExpected(expected, message);
  let thrown: { error: unknown } | undefined;
  try {
    await start(work);
  } catch (error) {
    thrown = { error };
  }
  if (thrown === undefined) fail({ message: judged.message ?? 'Missing expected rejection.', operator: 'rejects' });
  judgeError(thrown.error, judged.expected, judged.message, 'rejects');
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
    doesNotThrow: (work: () => unknown) => void work(),
    doesNotReject: async (work: unknown) => void (await start(work)),
    match: comparison('match', (text, pattern) => typeof text === 'string' && (pattern as RegExp).test(text)),
    doesNotMatch: comparison('doesNotMatch', (text, pattern) => !(pattern as RegExp).test(text as string)),
    ifError: (error: unknown) => {
      if (error !== null && error !== undefined)
        throw codedError(
          'ERR_ASSERTION',
          `ifError got unwanted exception: ${error instanceof Error ? error.message : inspect(error)}`,
        );
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
