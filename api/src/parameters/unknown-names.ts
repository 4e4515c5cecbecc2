import { isDeepStrictEqual } from 'node:util';
import type { z } from '@hono/zod-openapi';
import { didYouMean, type FieldError, LIMITS } from '@headwater/shared';

/** The parts of a schema that this file reads. zod has a separate type for each kind. */
interface SchemaNode {
  def: {
    type: string;
    innerType?: SchemaNode;
    in?: SchemaNode;
    element?: SchemaNode;
    options?: readonly SchemaNode[];
    discriminator?: string;
    values?: readonly unknown[];
    catchall?: SchemaNode;
  };
  shape?: Shape;
}

type Shape = Readonly<Record<string, SchemaNode>>;

/** A name in a request that its endpoint does not know; `known`: those beside it. */
export interface UnknownName {
  path: readonly string[];
  value: unknown;
  known: readonly string[];
}

/**
 * Finds unknown parameter names, a mistake that senders cannot see: a scope or a secret without
 * effect. Values with names of the tenant's own, such as props, are not checked, nor loose objects.
 * Returns at most LIMITS.maxProblemErrors.
 */
export function findUnknownNames(schema: z.ZodObject, given: object): UnknownName[] {
  const unknown: UnknownName[] = [];
  visit(schema as unknown as SchemaNode, given, [], unknown);
  return unknown;
}

/** The recursion is safe for any value: it ends with the schema, which is a few levels deep. */
function visit(node: SchemaNode, value: unknown, path: readonly string[], unknown: UnknownName[]): void {
  if (typeof value !== 'object' || value === null || unknown.length >= LIMITS.maxProblemErrors) return;
  const { innerType, in: input, element } = node.def;
  const wrapped = innerType ?? input;
  if (wrapped !== undefined) return visit(wrapped, value, path, unknown);
  if (Array.isArray(value)) {
    if (element === undefined) return;
    for (const [index, one] of (value as unknown[]).entries()) visit(element, one, [...path, String(index)], unknown);
    return;
  }
  const shape = shapeOf(node, value as Record<string, unknown>);
  if (shape === undefined) return;
  for (const [name, member] of Object.entries(value)) {
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (known !== undefined) visit(known, member, [...path, name], unknown);
    else if (unknown.length < LIMITS.maxProblemErrors)
      unknown.push({ path: [...path, name], value: member, known: Object.keys(shape) });
  }
}

/**
 * Names of a schema. For a union: those of the member that the value selects, or else of all
 * members. Undefined if any name is allowed.
 */
function shapeOf({ def, shape }: SchemaNode, value: Readonly<Record<string, unknown>>): Shape | undefined {
  const { options, discriminator, catchall } = def;
  if (catchall?.def.type === 'unknown') return undefined;
  if (options === undefined) return shape;
  const chosen = options.find(
    (option) =>
      discriminator !== undefined && option.shape?.[discriminator]?.def.values?.includes(value[discriminator]),
  );
  if (chosen !== undefined) return chosen.shape;
  const shapes = options.map((option) => option.shape);
  return shapes.includes(undefined) ? undefined : (Object.assign({}, ...shapes) as Shape);
}

/**
 * Errors for unknown names. `shown`: the resource as the API returns it now. A client may send back
 * everything that it read. So a name that is shown but cannot be set is an error only with another
 * value.
 */
export function unknownNameErrors(unknown: readonly UnknownName[], given: object, shown: unknown): FieldError[] {
  return unknown.flatMap(({ path, value, known }) => {
    const name = path.at(-1) ?? '';
    const holder = shownHolder(path, given, shown);
    const isShown = holder !== undefined && Object.hasOwn(holder, name);
    if (isShown && isDeepStrictEqual(holder[name], value)) return [];
    const message = isShown ? 'is shown, and cannot be set' : `is not known here: ${didYouMean(name, known)}`;
    return [{ path: path.join('.'), message }];
  });
}

type Json = Readonly<Record<string, unknown>>;

/**
 * The object of `shown` that is where the name is in `given`; of a list the one with the same id.
 */
function shownHolder(path: readonly string[], given: object, shown: unknown): Json | undefined {
  let [here, there]: unknown[] = [given, shown];
  for (const step of path.slice(0, -1)) {
    here = (here as Json)[step];
    there = Array.isArray(there) ? findById(there, here) : asObject(there)?.[step];
  }
  return asObject(there);
}

function findById(list: readonly unknown[], wanted: unknown): unknown {
  const id = asObject(wanted)?.['id'];
  return id === undefined ? undefined : list.find((one) => asObject(one)?.['id'] === id);
}

function asObject(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null ? (value as Json) : undefined;
}
