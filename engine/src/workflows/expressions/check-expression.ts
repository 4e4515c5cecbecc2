import { type AnyNode, parseExpressionAt, tokenizer, tokTypes } from 'acorn';
import { type ExceededLimit, LIMITS } from '@headwater/shared';
import { type FreeName, freeNamesOf, tooDeep } from './free-names.ts';
import { KNOWN_NAMES } from './known-names.ts';

export interface ExpressionProblem {
  message: string;
  /** Characters from the beginning of the expression. */
  at: number;
  /** The exceeded limit, if that is the problem. */
  limit?: ExceededLimit;
}

/** `env`: the environment variables that it names. */
export type CheckedExpression = { ok: true; env: string[] } | ({ ok: false } & ExpressionProblem);

// Strict mode, as in the evaluation. A parenthesized node ends at its parentheses. From ES2025 on,
// two groups of a regular expression may have the same name, and acorn compares each pair level by
// level. An expression of 10 000 characters took ten minutes.
const SYNTAX = { ecmaVersion: 2024, sourceType: 'module', preserveParens: true } as const;
/** acorn repeats the whole expression before its message. */
const REPEATED = /^(Invalid regular expression: )\/[^]*\/\w*: /;
/** acorn's message for some expressions that are nested too deeply. */
const NO_STACK = 'Not enough stack space';
const ENVIRONMENT_NAME = /^[A-Za-z_]\w*$/;

/**
 * Whether an expression can be worked out at all: its syntax, and that it names only `trigger` and
 * steps that have run by then. `before`: the namespaces of those. It is parsed, never run. Never
 * throws.
 */
export function checkExpression(expression: string, before: readonly string[]): CheckedExpression {
  const { maxExpressionChars: value } = LIMITS;
  if (expression.length > value) {
    const limit: ExceededLimit = { name: 'maxExpressionChars', value, used: expression.length };
    return { ok: false, message: `It has more than ${value} characters`, at: 0, limit };
  }
  const parsed = parse(expression);
  if (!parsed.ok) return parsed;
  const free = freeNamesOf(parsed.node);
  if (!free.ok) return free;
  const env = new Set<string>();
  for (const found of free.names) {
    const message = found.name === 'env' ? noteVariable(found, env) : findNameProblem(found, before);
    if (message !== undefined) return { ok: false, message, at: found.at };
  }
  return { ok: true, env: [...env] };
}

type Parsed = { ok: true; node: AnyNode } | ({ ok: false } & ExpressionProblem);

function parse(expression: string): Parsed {
  try {
    const node = parseExpressionAt(expression, 0, SYNTAX);
    const rest = expression.slice(node.end);
    const next = tokenizer(rest, SYNTAX).getToken();
    if (next.type === tokTypes.eof) return { ok: true, node };
    return { ok: false, message: 'There is text behind the end of the expression', at: node.end + next.start };
  } catch (error) {
    const { message, pos } = error as { message: string; pos?: number };
    if (error instanceof RangeError || message.startsWith(NO_STACK)) return tooDeep(LIMITS.maxExpressionDepth + 1, 0);
    return { ok: false, message: message.replace(/ \(\d+:\d+\)$/, '').replace(REPEATED, '$1'), at: pos ?? 0 };
  }
}

function noteVariable({ member }: FreeName, env: Set<string>): string | undefined {
  const name = member?.key;
  if (name === undefined || !ENVIRONMENT_NAME.test(name))
    return 'env is read as env.NAME, with the name of a variable of the account written out';
  env.add(name);
  return undefined;
}

function findNameProblem({ name, member }: FreeName, before: readonly string[]): string | undefined {
  if (name === 'steps') {
    const key = member?.key;
    if (key === undefined || key === 'trigger' || before.includes(key)) return undefined;
    const known = ['trigger', ...before].map((one) => `steps.${one}`).join(', ');
    return `There is no steps.${key} yet when this step runs; there is ${known}`;
  }
  if (KNOWN_NAMES.has(name)) return undefined;
  if (name === 'process') return 'process is not known in expressions; an environment variable is env.NAME';
  return `${name} is not known in expressions: use steps, env or names of the language`;
}
