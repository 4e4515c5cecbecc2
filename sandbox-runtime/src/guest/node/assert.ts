import { isDeepEqual } from './deep-equal.ts';
import { received, requireFunction } from './errors.ts';
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
  return (actual: unknown, expected: unknown, message?: unknown): void => {
    if (!holds(actual, expected)) fail({ message, actual, expected, operator });
  };
}

function matching(operator: string, says: string, wanted: boolean) {
  return (text: unknown, pattern: RegExp, message?: unknown): void => {
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
  requireFunction('fn', work);
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

function unwanted(what: string, error: unknown, message: unknown, operator: string): never {
  const said = typeof message === 'string' ? `: ${message}` : '.';
  const actual = (error as { message?: unknown } | null)?.message;
  fail({ message: `Got unwanted ${what}${said}\nActual message: "${String(actual)}"`, actual: error, operator });
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
    doesNotThrow: (work: () => unknown, message?: unknown) => {
      try {
        work();
      } catch (error) {
        unwanted('exception', error, message, 'doesNotThrow');
      }
    },
    doesNotReject: async (work: unknown, message?: unknown) => {
      try {
        await start(work);
      } catch (error) {
        unwanted('rejection', error, message, 'doesNotReject');
      }
    },
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
