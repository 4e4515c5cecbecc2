import type { Client } from './postgres-query.ts';

/** Array oid by element oid of Postgres's built-in types. They are the same on every server. */
const ARRAY_TYPES: Readonly<Record<number, number>> = {
  16: 1000, // bool
  17: 1001, // bytea
  18: 1002, // char
  19: 1003, // name
  20: 1016, // int8
  21: 1005, // int2
  23: 1007, // int4
  25: 1009, // text
  26: 1028, // oid
  114: 199, // json
  700: 1021, // float4
  701: 1022, // float8
  1042: 1014, // bpchar
  1043: 1015, // varchar
  1082: 1182, // date
  1114: 1115, // timestamp
  1184: 1185, // timestamptz
  1700: 1231, // numeric
  2205: 2210, // regclass
  2950: 2951, // uuid
  3802: 3807, // jsonb
};

type Serialize = (value: unknown) => unknown;
type Parse = (text: string) => unknown;

/**
 * Registers array types with the client. Otherwise it would ask each server for them on connect
 * (`fetch_types`). postgres.js 3.4.9 awaits that answer without a handler, so a connection lost at
 * that moment ended the process.
 */
export function addArrayTypes({ options }: Client): void {
  const parsers = options.parsers as Record<number, Parse | undefined>;
  const serializers = options.serializers as Record<number, Serialize | undefined>;
  for (const [element, array] of Object.entries(ARRAY_TYPES)) {
    const [parse, serialize] = [parsers[Number(element)], serializers[Number(element)]];
    parsers[array] ??= (text) => parseArray(text, parse);
    serializers[array] ??= (value) => (Array.isArray(value) ? formatArray(value, serialize) : value);
  }
}

/** Most have neither: to look for both at once costs a third of replacing them. */
const ESCAPED = /["\\]/;

function formatArray(items: readonly unknown[], serialize: Serialize | undefined): string {
  let all = '{';
  for (const item of items) {
    if (all.length > 1) all += ',';
    all += formatElement(item, serialize);
  }
  return `${all}}`;
}

function formatElement(item: unknown, serialize: Serialize | undefined): string {
  if (Array.isArray(item)) return formatArray(item, serialize);
  if (item === null) return 'null';
  if (item === undefined)
    throw Object.assign(new Error('An array has an undefined value'), { code: 'UNDEFINED_VALUE' });
  const text = String(serialize === undefined ? item : serialize(item));
  if (!ESCAPED.test(text)) return `"${text}"`;
  const unslashed = text.includes('\\') ? text.replaceAll('\\', '\\\\') : text;
  return `"${unslashed.replaceAll('"', '\\"')}"`;
}

/** A quoted element, one without quotes, or what divides them. */
const TOKEN = /"((?:[^"\\]|\\.)*)"|([^{},"]+)|([{}])/gs;

function parseArray(text: string, parse: Parse = (element) => element): unknown[] {
  const open: unknown[][] = [[]];
  for (const [, quoted, plain, brace] of text.matchAll(TOKEN)) {
    if (brace === '{') open.push([]);
    else if (brace === '}') {
      const closed = open.pop();
      open.at(-1)?.push(closed);
    } else if (quoted !== undefined) open.at(-1)?.push(parse(quoted.replaceAll(/\\(.)/gs, '$1')));
    else open.at(-1)?.push(plain === 'NULL' ? null : parse(plain as string));
  }
  return (open[0]?.[0] ?? []) as unknown[];
}
