import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ERRORS } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allEndpoints } from '../../api/src/app.ts';
import { rawRequest, startTestServer, type TestServer } from '../support/http-server.ts';

interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface MediaType {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: { name: string; in: string; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, { content?: Record<string, MediaType> }>;
}

interface OpenApi {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; examples: Record<string, { value: unknown }> };
}

const JSON_TYPE = 'application/json';
const PROBLEM_TYPE = 'application/problem+json';

let server: TestServer;
let document: OpenApi;

beforeAll(async () => {
  server = await startTestServer();
  document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
});
afterAll(() => server.server.stop());

const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods));

/** Paths of fields that nothing is said about. */
function undescribed(schema: Schema | undefined, path: string): string[] {
  if (schema === undefined || schema.$ref !== undefined) return [];
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description === undefined && field.$ref === undefined ? [`${path}.${name}`] : []),
    ...undescribed(field, `${path}.${name}`),
  ]);
  const inner = [schema.items, schema.additionalProperties, ...(schema.allOf ?? []), ...(schema.anyOf ?? [])];
  const others = [...inner, ...(schema.oneOf ?? [])].filter((one) => typeof one === 'object');
  return [...fields, ...others.flatMap((one) => undescribed(one, path))];
}

test('every operation has a summary, a description and a declared tag', () => {
  const tags = new Set(document.tags.map(({ name }) => name));
  expect(operations().filter(({ summary, description }) => !summary || !description)).toEqual([]);
  expect(operations().flatMap((one) => one.tags.filter((tag) => !tags.has(tag)))).toEqual([]);
});

test('every field and every parameter is described', () => {
  const named = Object.entries(document.components.schemas).flatMap(([name, schema]) => undescribed(schema, name));
  const inPlace = operations().flatMap(({ operationId, parameters = [], requestBody, responses }) => [
    ...parameters
      .filter((one) => one.description === undefined && one.schema.description === undefined)
      .map(({ name }) => `${operationId} ?${name}`),
    ...[requestBody ?? { content: {} }, ...Object.values(responses)].flatMap(({ content = {} }) =>
      Object.values(content).flatMap(({ schema }) => undescribed(schema, operationId)),
    ),
  ]);
  expect([...named, ...inPlace]).toEqual([]);
});

function exampleOf(media: MediaType | undefined): unknown {
  const reference = media?.examples?.['example']?.$ref;
  return reference === undefined
    ? media?.example
    : document.components.examples[reference.split('/').at(-1) ?? '']?.value;
}

test('every JSON body has an example that its schema takes', () => {
  const wrong = allEndpoints('http://127.0.0.1').flatMap((endpoint) => {
    const operation = document.paths[endpoint.path]?.[endpoint.method];
    const request = operation?.requestBody?.content[JSON_TYPE];
    const answer = operation?.responses[endpoint.success.status]?.content?.[JSON_TYPE];
    const checks: boolean[] = [];
    if (request !== undefined) checks.push(endpoint.parameters.safeParse(exampleOf(request)).success);
    if (answer !== undefined) {
      const { data } = exampleOf(answer) as { data: unknown };
      for (const item of endpoint.success.list ? (data as unknown[]) : [data])
        checks.push(endpoint.schema?.safeParse(item).success ?? false);
    }
    return checks.every(Boolean) ? [] : [endpoint.name];
  });
  expect(wrong).toEqual([]);
});

test('every problem has an example for each code that it may have', () => {
  const problems = operations().flatMap(({ operationId, responses }) =>
    Object.entries(responses).map(([status, { content = {} }]) => ({
      operationId,
      status,
      media: content[PROBLEM_TYPE],
    })),
  );
  const wrong = problems
    .filter(({ media, status }) => media !== undefined && status !== '431')
    .filter(({ media, status }) => {
      const codes = Object.keys(media?.examples ?? {});
      const values = codes.map((code) => document.components.examples[code]?.value as { status: number } | undefined);
      return codes.length === 0 || values.some((value) => value?.status !== Number(status));
    });
  expect(wrong).toEqual([]);
  expect(document.components.examples['NOT_FOUND']?.value).toMatchObject({
    status: 404,
    title: ERRORS.NOT_FOUND.title,
  });
});

test('an endpoint of a source is described with every method that it takes', () => {
  const methods = Object.keys(document.paths['/e/{key}'] ?? {});
  expect(methods).toEqual(['get', 'post', 'put', 'patch', 'delete', 'head', 'options']);
});

test('the document comes compressed, and not again to a client that has it', async () => {
  const plain = await rawRequest(server.port, { path: '/openapi.json' });
  const { etag = '' } = plain.headers;
  const zipped = await fetchBytes({ 'accept-encoding': 'gzip, br;q=0' });
  expect(zipped.encoding).toBe('gzip');
  expect(gunzipSync(zipped.bytes).toString()).toBe(plain.text);
  const brotli = await fetchBytes({ 'accept-encoding': 'gzip, br' });
  expect(brotli.encoding).toBe('br');
  expect(brotliDecompressSync(brotli.bytes).toString()).toBe(plain.text);
  expect(brotli.bytes.length * 8).toBeLessThan(plain.text.length);
  const again = await rawRequest(server.port, { path: '/openapi.json', headers: { 'if-none-match': etag } });
  expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
});

/** As they come over the wire: fetch would unpack them. */
async function fetchBytes(headers: Record<string, string>): Promise<{ encoding: string | undefined; bytes: Buffer }> {
  const { get } = await import('node:http');
  return new Promise((resolve, reject) => {
    get({ port: server.port, path: '/openapi.json', headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ encoding: response.headers['content-encoding'], bytes: Buffer.concat(chunks) }),
      );
    }).on('error', reject);
  });
}
