import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/http-server.ts';

let server: TestServer;
let document: OpenApi;

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; schema: object }[];
  requestBody?: { required: boolean; content: Record<string, { schema: { properties: object; required?: string[] } }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
  security: object[];
}

interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
}

beforeAll(async () => {
  server = await startTestServer();
  document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
});
afterAll(() => server.server.stop());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

test('the document is OpenAPI 3.1 and names every operation once', () => {
  expect(document.openapi).toBe('3.1.0');
  const names = operations().map(({ operation }) => operation.operationId);
  expect(new Set(names).size).toBe(names.length);
});

test('every reference in the document leads somewhere', () => {
  const references = JSON.stringify(document).match(/"#\/[^"]+"/g) ?? [];
  expect(references.length).toBeGreaterThan(10);
  for (const reference of new Set(references)) {
    const [, , section, name] = JSON.parse(reference).split('/') as string[];
    expect(document.components[section as 'schemas']).toHaveProperty([name ?? '']);
  }
});

test('each route of the server is in the document', () => {
  const described = new Set(operations().map(({ path, method }) => `${method.toUpperCase()} ${path}`));
  const routed = server.app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${decodeURIComponent(path).replaceAll(/:(\w+)/g, '{$1}')}`);
  expect(routed.filter((route) => !described.has(route))).toEqual([]);
});

test('every operation that the document describes is there, and asks for a key where it says so', async () => {
  for (const { path, method, operation } of operations()) {
    const url = server.url + path.replace('{id}', 'x_1').replace('{key}', 'known1');
    const response = await fetch(url, { method: method.toUpperCase(), redirect: 'manual' });
    // Signing in without a key is refused for the missing key; signing out needs none.
    const withoutKey = path.startsWith('/v1/session') ? { get: 200, post: 400, delete: 204 }[method] : 200;
    const isRedirect = operation.responses['302'] !== undefined;
    const expected = operation.security.length > 0 ? 401 : isRedirect ? 302 : withoutKey;
    expect([method, path, response.status]).toEqual([method, path, expected]);
    await response.arrayBuffer();
  }
});

test('parameters of the body may come in the query string, and both are described', () => {
  const create = document.paths['/v1/webhooks']?.['post'];
  const queried = create?.parameters?.filter((parameter) => parameter.in === 'query');
  const inQuery = queried?.map((parameter) => [parameter.name, parameter.required ?? false]);
  const names = [
    'url',
    'headers',
    'method',
    'auth',
    'ca_certificate',
    'client_certificate',
    'client_key',
    'retry_schedule_seconds',
    'disable_after_hours',
    'disable_failures_over_hours',
    'timeout_seconds',
    'ordering',
    'ordering_key',
    'rate_per_second',
    'max_in_flight',
    'adaptive_rate',
    'transform_id',
    'name',
    'description',
    'format',
    'secret',
    'signature',
  ];
  expect(inQuery).toEqual([...names, 'include', 'exclude'].map((name) => [name, false]));
  const body = create?.requestBody?.content['application/json']?.schema;
  expect(Object.keys(body?.properties ?? {})).toEqual(names);
  expect(body?.required).toEqual(['url']);
});

test('every operation with a key describes its errors as problem documents', () => {
  for (const { operation } of operations().filter(({ path }) => path.startsWith('/v1/'))) {
    for (const status of ['400', '401', '500']) {
      expect(Object.keys(operation.responses[status]?.content ?? {})).toEqual(['application/problem+json']);
    }
  }
});

test('an operation describes what it may be refused with beyond that', () => {
  const has = (method: string, path: string, status: number) =>
    expect(document.paths[path]?.[method]?.responses, `${method} ${path}`).toHaveProperty([String(status)]);
  has('post', '/v1/sources', 404); // a component_id that is nobody's
  has('post', '/v1/components/{id}/configure', 422); // the component's own code threw
  has('post', '/v1/components/{id}/publish', 403);
  has('post', '/v1/workflows/{id}/run', 429); // queue_limit
  has('get', '/v1/sources/{id}/sse', 429);
  has('get', '/v1/sends/s3', 404);
});

test('the signed delivery is described as a webhook, with its headers', () => {
  const delivery = document.webhooks['event']?.['post'];
  expect(delivery?.parameters?.map((parameter) => parameter.name)).toEqual([
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
    'headwater-event-id',
    'headwater-emitter-id',
    'headwater-channel',
    'headwater-attempt',
  ]);
  expect(delivery?.requestBody?.content).toHaveProperty(['application/json']);
});
