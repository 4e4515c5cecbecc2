import { BASE_PATH } from '../../api/base-url.ts';

/* The server's own OpenAPI document, as far as the reference shows it. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

interface MediaType {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { $ref?: string }>;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface Described {
  summary: string;
  description: string;
  tags: string[];
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, { description: string; content?: Record<string, MediaType> }>;
}

export interface Operation extends Described {
  operationId: string;
  method: string;
  path: string;
}

export interface OpenApi {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Described & { operationId: string }>>;
  components: { schemas: Record<string, Schema>; examples?: Record<string, { value: unknown }> };
}

export async function readOpenApi(signal: AbortSignal): Promise<OpenApi> {
  const answer = await fetch(`${BASE_PATH}openapi.json`, { signal });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}`);
  return (await answer.json()) as OpenApi;
}

/** Operations of a tag in which every word stands, in the order of the document. */
export function operationsOf({ paths }: OpenApi, tag: string, words: readonly string[]): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .map(([method, one]) => ({ ...one, method: method.toUpperCase(), path }))
      .filter((one) => one.tags.includes(tag))
      .filter(({ method, summary, description, operationId }) => {
        const text = `${method} ${path} ${summary} ${description} ${operationId}`.toLowerCase();
        return words.every((word) => text.includes(word));
      }),
  );
}

/** The example of a JSON body. */
export function exampleOf(document: OpenApi, content: Record<string, MediaType> | undefined): unknown {
  const media = content?.['application/json'];
  const name = Object.values(media?.examples ?? {})[0]
    ?.$ref?.split('/')
    .at(-1);
  return name === undefined ? media?.example : document.components.examples?.[name]?.value;
}

/** The fields of a JSON body, with one step of references followed. */
export function fieldsOf(
  document: OpenApi,
  content: Record<string, MediaType> | undefined,
): [string, Schema, boolean][] {
  const schema = followed(document, content?.['application/json']?.schema);
  return Object.entries(schema?.properties ?? {}).map(([name, field]) => {
    const own = followed(document, field) ?? field;
    const shown = { ...own, ...(field.description === undefined ? {} : { description: field.description }) };
    return [name, shown, schema?.required?.includes(name) === true];
  });
}

function followed({ components }: OpenApi, schema: Schema | undefined): Schema | undefined {
  const name = schema?.$ref?.split('/').at(-1);
  return name === undefined ? schema : components.schemas[name];
}

export function typeOf({ type, enum: values, items }: Schema): string {
  if (values !== undefined) return values.map(String).join(' | ');
  const name = Array.isArray(type) ? type.join(' | ') : (type ?? 'any');
  return name === 'array' && items !== undefined ? `array of ${typeOf(items)}` : name;
}
