import type { RunProp } from '@headwater/shared';
import { parsePath, tokenize } from '@headwater/shared/expressions';
import { applyFunction, parseJson, stringifyJson, toText } from './intrinsics.ts';
import { coerceValue } from './coerce-value.ts';
import { limitOfThrown } from './limit-error.ts';
import { PrivateMap } from './private-map.ts';
import { isPathOf, readPath, type TemplateScope } from './read-path.ts';
import type { ResolvedProp } from './resolve-prop.ts';

/**
 * One expression, compiled once for all runs of the isolate. Throws MissingPath, and errors of the
 * expression.
 */
type Evaluate = (scope: TemplateScope) => unknown;

type Piece = string | { source: string; evaluate: Evaluate };

/** Templates that are kept taken apart: those of a step are few and stay the same. */
const MAX_KEPT = 1_000;
/** Taken before any component exists. */
const MakeFunction = Function;
const MAX_SHOWN_CHARS = 200;

/**
 * Configuration error of a step. The message is for the user who configures it, so it has no stack.
 */
class TemplateError extends Error {
  override readonly name = 'ConfigurationError';
  override readonly stack = '';
}

export interface EvaluatedProps {
  props: Record<string, RunProp>;
  /** Those that expressions have made, by name; undefined where there are none. */
  evaluated: [name: string, value: unknown][] | undefined;
}

/**
 * The props of a step with the values of their expressions. Throws TemplateError, which names step,
 * prop and expression.
 */
export class Templates {
  readonly #kept = new PrivateMap<string, Piece[]>();

  evaluate(
    given: Record<string, RunProp>,
    scope: TemplateScope,
    definitions: ReadonlyMap<string, ResolvedProp>,
    namespace: string,
  ): EvaluatedProps {
    const props: [string, RunProp][] = [];
    let evaluated: EvaluatedProps['evaluated'];
    for (const [name, prop] of Object.entries(given)) {
      if (prop.kind !== 'template') {
        props.push([name, prop]);
        continue;
      }
      const where = `The prop \`${name}\` of the step \`${namespace}\``;
      const type = prop.type ?? definitions.get(name)?.definition['type'];
      const value = coerceValue(this.#resolve(prop.value, scope, where), type);
      (evaluated ??= []).push([name, value]);
      props.push([name, type === 'http_request' ? { kind: 'http-request', request: value } : { kind: 'value', value }]);
    }
    return { props: Object.fromEntries(props), evaluated };
  }

  #resolve(value: unknown, scope: TemplateScope, where: string): unknown {
    if (typeof value === 'string') return this.#fill(value, scope, where);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.#resolve(item, scope, where));
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.#resolve(inner, scope, where)]));
  }

  /** A single expression keeps its type; beside other expressions or text it becomes text. */
  #fill(template: string, scope: TemplateScope, where: string): unknown {
    const pieces = this.#piecesOf(template, where);
    const [first] = pieces;
    if (pieces.length === 1 && typeof first === 'object') return evaluate(first, scope, where);
    return pieces.map((piece) => (typeof piece === 'string' ? piece : asText(evaluate(piece, scope, where)))).join('');
  }

  #piecesOf(template: string, where: string): Piece[] {
    const kept = this.#kept.get(template);
    if (kept !== undefined) return kept;
    const outcome = tokenize(template);
    if (!outcome.ok)
      throw new TemplateError(`${where} cannot be read at character ${outcome.at + 1}: ${outcome.message}`);
    const pieces = outcome.parts.map((part) => ('text' in part ? part.text : prepare(part.expression, where)));
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(template, pieces);
    return pieces;
  }
}

function prepare(expression: string, where: string): Piece {
  const source = expression.trim();
  const path = parsePath(source);
  if (path !== undefined && isPathOf(path)) return { source, evaluate: (scope) => readPath(path, scope) };
  let compiled: (steps: unknown, env: unknown) => unknown;
  try {
    // The line break ends a comment at the end of the expression.
    compiled = MakeFunction('steps', 'env', `"use strict"; return (${expression}\n);`) as typeof compiled;
  } catch (error) {
    throw new TemplateError(
      `${where} has an expression that is not JavaScript, \`${shown(source)}\`: ${messageOf(error)}`,
    );
  }
  return { source, evaluate: ({ steps, env }) => plain(applyFunction(compiled, undefined, [steps.all(), env])) };
}

function evaluate({ source, evaluate: act }: Exclude<Piece, string>, scope: TemplateScope, where: string): unknown {
  try {
    return act(scope);
  } catch (error) {
    if (limitOfThrown(error) !== undefined) throw error;
    throw new TemplateError(`${where} wants \`${shown(source)}\`, but ${messageOf(error)}`);
  }
}

/** As a configured value is: data of its own, that nothing else in the run changes. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' && typeof value !== 'function') return value;
  const json = stringifyJson(value);
  return json === undefined ? undefined : parseJson(json);
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? stringifyJson(value) : toText(value);
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? toText(error.message) : toText(error);
}

function shown(source: string): string {
  return source.length > MAX_SHOWN_CHARS ? `${source.slice(0, MAX_SHOWN_CHARS)}…` : source;
}
