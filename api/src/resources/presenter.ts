import type { z } from '@hono/zod-openapi';
import type { CamelCase, RecordOf, Shown } from '@headwater/shared/contract';

/** A record is only read, and null is as good as absent. */
type Read<T> = T extends Date
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Read<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Read<T[K]> | (object extends Pick<T, K> ? null | undefined : never) }
      : T;

/** Members that the record has under the same name and with the type of the schema. */
type Same<S extends z.ZodType, R, Expected = Read<RecordOf<S>>> = {
  [K in keyof Shown<S>]: CamelCase<K> extends keyof R & keyof Expected
    ? R[CamelCase<K>] extends Expected[CamelCase<K>]
      ? K
      : never
    : never;
}[keyof Shown<S>];

/** The members of an answer that are made otherwise than by another name. */
type Own<S extends z.ZodType, R> = Omit<Shown<S>, Same<S, R>> & Partial<Shown<S>>;

/** Makes the member of an answer from that of a record. */
type Show = (value: unknown) => unknown;

interface Member {
  /** In the answer. */
  name: string;
  /** In the record. */
  from: string;
  show: Show;
}

/**
 * Converts records to answers of the schema: names in snake_case, times as numbers, null for absent
 * values. `own` makes the members that differ further; the compiler requires them.
 */
export function presenter<S extends z.ZodType>(schema: S): (record: Read<RecordOf<S>>) => Shown<S>;
export function presenter<S extends z.ZodType, R extends object>(
  schema: S,
  own: (record: R) => Own<S, R>,
): (record: R) => Shown<S>;
export function presenter(schema: z.ZodType, own?: (record: object) => object): unknown {
  return showMembers(membersOf(schema as Schema), own);
}

function showMembers(members: readonly Member[], own: (record: object) => object = () => ({})) {
  return (record: object): object => {
    const made = own(record) as Record<string, unknown>;
    const shown: Record<string, unknown> = {};
    for (const { name, from, show } of members) {
      const value = name in made ? made[name] : show((record as Record<string, unknown>)[from]);
      if (value !== undefined) shown[name] = value;
    }
    return shown;
  };
}

/** As far as schemas of answers go. */
type Schema = z.ZodType & {
  def:
    | { type: 'object'; shape: Record<string, Schema> }
    | { type: 'intersection'; left: Schema; right: Schema }
    | { type: 'array'; element: Schema }
    | { type: 'nullable' | 'optional'; innerType: Schema }
    | { type: 'pipe'; reverseTransform: Show }
    | { type: 'string' };
};

function membersOf({ def }: Schema): Member[] {
  if (def.type === 'intersection') return [...membersOf(def.left), ...membersOf(def.right)];
  if (def.type !== 'object') throw new TypeError(`A ${def.type} has no members to show`);
  return Object.entries(def.shape).map(([name, member]) => ({
    name,
    from: name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    show: showOf(member) ?? asItIs,
  }));
}

const asItIs: Show = (value) => value;

/** Undefined: as it is. */
function showOf(schema: Schema): Show | undefined {
  const { def } = schema;
  switch (def.type) {
    case 'object':
    case 'intersection':
      return showMembers(membersOf(schema)) as Show;
    case 'array': {
      const show = showOf(def.element);
      return show && ((items) => (items as unknown[]).map((item) => show(item)));
    }
    case 'nullable': {
      const show = showOf(def.innerType) ?? asItIs;
      return (value) => (value === undefined || value === null ? null : show(value));
    }
    case 'optional': {
      const show = showOf(def.innerType) ?? asItIs;
      return (value) => (value === undefined || value === null ? undefined : show(value));
    }
    case 'pipe':
      return def.reverseTransform;
    default:
      return undefined;
  }
}
