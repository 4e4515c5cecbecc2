import type { AnyNode } from 'acorn';
import { type ExceededLimit, LIMITS } from '@headwater/shared';

/**
 * A name that the expression does not define itself. `member`: the property read from it, if it is
 * written out, as in `steps.foo`.
 */
export interface FreeName {
  name: string;
  at: number;
  /** `{ key }`; key undefined: it is computed, as in `steps[x]`. Absent: the name stands alone. */
  member?: { key: string | undefined };
}

export type FreeNames =
  | { ok: true; names: FreeName[] }
  | { ok: false; message: string; at: number; limit?: ExceededLimit };

interface Scope {
  names: ReadonlySet<string>;
  isFunction: boolean;
  parent: Scope | undefined;
}

type Child = { node: AnyNode; scope: Scope | undefined; depth: number };

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

/**
 * The names that an expression takes from outside. A name that a function in it declares anywhere
 * counts as its own in all of that function: what that lets through fails when it is worked out.
 * Nothing is worked out here.
 */
export function freeNamesOf(expression: AnyNode): FreeNames {
  const names: FreeName[] = [];
  const open: Child[] = [{ node: expression, scope: undefined, depth: 0 }];
  for (let child = open.pop(); child !== undefined; child = open.pop()) {
    const { node, scope, depth } = child;
    if (depth > LIMITS.maxExpressionDepth) return tooDeep(depth, node.start);
    if (node.type === 'ImportExpression' || (node.type === 'MetaProperty' && node.meta.name === 'import'))
      return { ok: false, message: 'import is for components, not for expressions', at: node.start };
    if (node.type === 'AwaitExpression' && !isInFunction(scope))
      return {
        ok: false,
        message: 'await works only in async functions, and an expression is not one',
        at: node.start,
      };
    const found = freeNameAt(node, scope);
    if (found !== undefined) names.push(found);
    const inner = scopeIn(node, scope);
    for (const next of childrenOf(node)) open.push({ node: next, scope: inner, depth: depth + 1 });
  }
  return { ok: true, names: names.toSorted((a, b) => a.at - b.at) };
}

/** `used`: levels, at least. */
export function tooDeep(used: number, at: number) {
  const { maxExpressionDepth: value } = LIMITS;
  const limit: ExceededLimit = { name: 'maxExpressionDepth', value, used };
  return { ok: false as const, message: `It is nested deeper than ${value} levels`, at, limit };
}

function freeNameAt(node: AnyNode, scope: Scope | undefined): FreeName | undefined {
  if (node.type === 'MemberExpression' && node.object.type === 'Identifier') {
    const { name, start: at } = node.object;
    return isDeclared(name, scope) ? undefined : { name, at, member: { key: keyOf(node) } };
  }
  if (node.type !== 'Identifier' || isDeclared(node.name, scope)) return undefined;
  return { name: node.name, at: node.start };
}

/** The key of `a.b` and `a["b"]`; undefined if only evaluation can tell. */
function keyOf(node: Extract<AnyNode, { type: 'MemberExpression' }>): string | undefined {
  const { property, computed } = node;
  if (property.type === 'Identifier') return computed ? undefined : property.name;
  if (property.type === 'Literal') return String(property.value);
  if (property.type !== 'TemplateLiteral' || property.expressions.length > 0) return undefined;
  return property.quasis[0]?.value.cooked ?? undefined;
}

/**
 * Nodes in which names are looked up: not the keys of members and properties that are written out,
 * nor labels.
 */
function childrenOf(node: AnyNode): AnyNode[] {
  switch (node.type) {
    case 'MemberExpression': {
      // A name that stands before the dot has been found with its member.
      const object = node.object.type === 'Identifier' ? [] : [node.object];
      return node.computed ? [...object, node.property] : object;
    }
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition': {
      const value = isNode(node.value) ? [node.value as AnyNode] : [];
      return node.computed ? [node.key, ...value] : value;
    }
    case 'LabeledStatement':
      return [node.body];
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'MetaProperty':
      return [];
    default:
      return Object.values(node).flatMap((value: unknown) =>
        Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
      );
  }
}

/** Parsed as a module is, where `await` may stand by itself. */
function isInFunction(scope: Scope | undefined): boolean {
  for (let at = scope; at !== undefined; at = at.parent) if (at.isFunction) return true;
  return false;
}

function isDeclared(name: string, scope: Scope | undefined): boolean {
  for (let at = scope; at !== undefined; at = at.parent) if (at.names.has(name)) return true;
  return false;
}

function scopeIn(node: AnyNode, parent: Scope | undefined): Scope | undefined {
  switch (node.type) {
    case 'FunctionExpression':
    case 'FunctionDeclaration':
      return { names: new Set(['arguments', ...declaredIn(node)]), isFunction: true, parent };
    case 'ArrowFunctionExpression':
    case 'ClassExpression':
    case 'ClassDeclaration':
      return { names: new Set(declaredIn(node)), isFunction: node.type === 'ArrowFunctionExpression', parent };
    default:
      return parent;
  }
}

function opensScope({ type }: AnyNode): boolean {
  return /^(Function|ArrowFunction|Class)(Expression|Declaration)$/.test(type);
}

/**
 * Parameters, variables, functions, classes and caught errors of one function, not of those in it.
 */
function declaredIn(owner: AnyNode): string[] {
  const names: string[] = [];
  const open: AnyNode[] = [owner];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('id' in node && isNode(node.id)) names.push(...boundIn(node.id as AnyNode));
    if ('params' in node && node === owner) names.push(...node.params.flatMap((param) => boundIn(param)));
    if (node.type === 'CatchClause' && isNode(node.param)) names.push(...boundIn(node.param as AnyNode));
    if (node === owner || !opensScope(node)) open.push(...childrenOf(node));
  }
  return names;
}

/** The names of a pattern: `{ a, b: [c = 1], ...d }`. */
function boundIn(pattern: AnyNode): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((one) => boundIn(one.type === 'Property' ? one.value : one.argument));
    case 'ArrayPattern':
      return pattern.elements.flatMap((one) => (one === null ? [] : boundIn(one)));
    case 'AssignmentPattern':
      return boundIn(pattern.left);
    case 'RestElement':
      return boundIn(pattern.argument);
    default:
      return [];
  }
}
