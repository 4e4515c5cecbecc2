import { type ExceededLimit, LIMITS, tokenize } from '@headwater/shared';
import { checkExpression, type ExpressionProblem } from './check-expression.ts';

/**
 * Remaining budget for the expressions of one version. This node parses all of them, one after the
 * other.
 */
export interface ExpressionBudget {
  expressions: number;
  chars: number;
}

export function expressionBudget(): ExpressionBudget {
  return { expressions: LIMITS.maxWorkflowExpressions, chars: LIMITS.maxWorkflowExpressionChars };
}

export interface ValueScope {
  /** Namespaces of the steps before. */
  before: readonly string[];
  budget: ExpressionBudget;
  /**
   * Takes the environment variables that are named, each time with the keys that lead to the place
   * in the value.
   */
  noteVariable: (name: string, keys: readonly string[]) => void;
}

/** `limit`: the exceeded limit, if that is the problem. */
export interface ValueProblem {
  message: string;
  limit?: ExceededLimit;
}

const SHOWN_CHARS = 80;

/**
 * The problem of the first wrong expression in a prop's value, at any depth; undefined if there is
 * none. A value of megabytes has thousands of expressions, so `giveWay` may yield between them.
 */
export async function findExpressionProblem(
  value: unknown,
  scope: ValueScope,
  giveWay: () => Promise<void>,
): Promise<ValueProblem | undefined> {
  const looking = lookThrough(value, scope, []);
  for (;;) {
    const { done, value: problem } = looking.next();
    if (done) return problem;
    await giveWay();
  }
}

/** Stops after each expression. */
function* lookThrough(
  value: unknown,
  scope: ValueScope,
  keys: readonly string[],
): Generator<undefined, ValueProblem | undefined> {
  if (typeof value === 'string') {
    const problem = yield* lookThroughTemplate(value, scope, keys);
    if (problem === undefined || keys.length === 0) return problem;
    return { ...problem, message: `At ${placeOf(keys)}: ${problem.message}` };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const problem = yield* lookThrough(inner, scope, [...keys, key]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Maximum characters of a key on the path to an expression. A key may be as long as the value. */
export const MAX_SHOWN_KEY_CHARS = 200;

/** As JavaScript writes it: `list[1].to`. */
function placeOf(keys: readonly string[]): string {
  const cut = keys.map((key) => key.slice(0, MAX_SHOWN_KEY_CHARS));
  return cut.map((key, i) => (/^\d+$/.test(key) ? `[${key}]` : i === 0 ? key : `.${key}`)).join('');
}

function* lookThroughTemplate(
  template: string,
  { before, budget, noteVariable }: ValueScope,
  keys: readonly string[],
): Generator<undefined, ValueProblem | undefined> {
  const outcome = tokenize(template);
  yield undefined;
  if (!outcome.ok) return { message: `${outcome.message} (at character ${outcome.at + 1})` };
  for (const part of outcome.parts) {
    if (!('expression' in part)) continue;
    budget.expressions -= 1;
    budget.chars -= part.expression.length;
    const limit = exceededOf(budget);
    if (limit !== undefined) return { message: TOO_MANY, limit };
    const checked = checkExpression(part.expression, before);
    if (!checked.ok) return problemOf(checked, part);
    for (const name of checked.env) noteVariable(name, keys);
    yield undefined;
  }
  return undefined;
}

const TOO_MANY = `A workflow has at most ${LIMITS.maxWorkflowExpressions} expressions, of ${LIMITS.maxWorkflowExpressionChars} characters together`;

function exceededOf({ expressions, chars }: ExpressionBudget): ExceededLimit | undefined {
  const over = (name: 'maxWorkflowExpressions' | 'maxWorkflowExpressionChars', left: number) => {
    const value = LIMITS[name];
    return left < 0 ? { name, value, used: value - left } : undefined;
  };
  return over('maxWorkflowExpressions', expressions) ?? over('maxWorkflowExpressionChars', chars);
}

function problemOf({ message, at, limit }: ExpressionProblem, part: { expression: string; at: number }): ValueProblem {
  const place = `at character ${part.at + at + 1}, in {{${shown(part.expression)}}}`;
  return { message: `${message} (${place})`, ...(limit === undefined ? {} : { limit }) };
}

function shown(expression: string): string {
  return expression.length > SHOWN_CHARS ? `${expression.slice(0, SHOWN_CHARS)}…` : expression;
}
