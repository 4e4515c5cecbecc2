import type { Schema } from '../../api/src/openapi/examples.ts';

export interface Operation {
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `/v1/sources/{id}` */
  path: string;
  takes: { account: boolean; operator: boolean };
  query: { name: string; required: boolean; schema: Schema }[];
  /** Fields of the JSON body; empty without one. */
  body: Record<string, Schema>;
  required: readonly string[];
  example: Record<string, unknown>;
  statuses: ReadonlySet<number>;
  isStream: boolean;
}

interface Described {
  operationId: string;
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema?: Schema; example?: unknown }> };
  responses: Record<string, { content?: Record<string, unknown> }>;
}

interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}

/** The operations of `/openapi.json` that take a key, with what the document says of each. */
export async function readOperations(url: string): Promise<{ operations: Operation[]; typesOf: TypesOf }> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => operationOf(path, method, described)),
  );
  return { operations, typesOf: (schema) => typesIn(schema, document.components.schemas) };
}

function operationOf(path: string, method: string, described: Described): Operation[] {
  const { operationId: name, security = [], parameters = [], requestBody, responses } = described;
  const takes = {
    account: security.some((one) => 'apiKey' in one),
    operator: security.some((one) => 'adminKey' in one),
  };
  if (!takes.account && !takes.operator) return [];
  const { schema: body = {}, example = {} } = requestBody?.content['application/json'] ?? {};
  const query = parameters
    .filter((one) => one.in === 'query')
    .map(({ name: parameter, required = false, schema }) => ({ name: parameter, required, schema }));
  return [
    {
      name,
      method: method.toUpperCase() as Operation['method'],
      path,
      takes,
      query,
      body: body.properties ?? {},
      required: body.required ?? [],
      example: example as Record<string, unknown>,
      statuses: new Set(Object.keys(responses).map(Number)),
      isStream: responses['200']?.content?.['text/event-stream'] !== undefined,
    },
  ];
}

/** The JSON types that a value may have; undefined where it may have any. */
export type TypesOf = (schema: Schema) => ReadonlySet<string> | undefined;

function typesIn(schema: Schema, schemas: Record<string, Schema>): ReadonlySet<string> | undefined {
  const { $ref, type, allOf } = schema;
  if ($ref !== undefined) return typesIn(schemas[$ref.split('/').at(-1) ?? ''] ?? {}, schemas);
  if (type !== undefined) return new Set([type].flat());
  const known = schema.enum ?? ('const' in schema ? [schema.const] : undefined);
  if (known !== undefined) return new Set(known.map(typeOf));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) {
    const all = choices.map((one) => typesIn(one, schemas));
    return all.includes(undefined) ? undefined : new Set(all.flatMap((one) => [...(one ?? [])]));
  }
  return allOf?.map((one) => typesIn(one, schemas)).find((one) => one !== undefined);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/** A value of no type among `types`, and none that could be read as one: `"1"` is a number too. */
export function wrongValue(types: ReadonlySet<string>): unknown {
  const text = types.has('string') ? [] : ['no such value'];
  return [...text, { no: 'such value' }, ['no such value']].find((one) => !types.has(typeOf(one)));
}
