import { fc } from '../support/properties.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allEndpoints } from '../../api/src/app.ts';
import { findJsonError } from '../../api/src/parameters/json-text.ts';
import { createMemoryLog, rawRequest, startTestServer, API_KEY, type TestServer } from '../support/http-server.ts';

let server: TestServer;
const log = createMemoryLog();

beforeAll(async () => {
  server = await startTestServer({ log });
});
afterAll(() => server.server.stop());

const endpoints = allEndpoints().filter((endpoint) => endpoint.access === 'key');
const garbage = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc.constantFrom(
    '',
    '\u0000',
    '1e999',
    '-1',
    '[]',
    '{}',
    'null',
    '%',
    '\ud800',
    '__proto__',
    'true',
    '99999999999999999999',
  ),
);
const name = fc.oneof(
  fc.constantFrom(...new Set(endpoints.flatMap((endpoint) => Object.keys(endpoint.parameters.shape)))),
  fc.constantFrom('__proto__', 'constructor', 'toString', ''),
);
const jsonValue = fc.oneof(fc.jsonValue({ maxDepth: 4 }), garbage, fc.constant(deep(2000)));

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

// A request line is ASCII: other text is sent as percent-encoded UTF-8, or now and then unencoded.
const queryText = fc
  .array(fc.tuple(name, garbage), { maxLength: 5 })
  .map((pairs) =>
    pairs
      .map(([key, value]) => `${key}=${/^[!-~]*$/.test(value) ? value.replaceAll('#', '') : escapeLoose(value)}`)
      .join('&'),
  );

function escapeLoose(value: string): string {
  return [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

const body = fc.oneof(
  fc.array(fc.tuple(name, jsonValue), { maxLength: 6 }).map((pairs) => JSON.stringify(Object.fromEntries(pairs))),
  jsonValue.map((value) => JSON.stringify(value) ?? ''),
  garbage,
  fc.constant('{"configured_props":'.repeat(5000)),
);

const contentType = fc.constantFrom(
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'nonsense',
);

test('garbage in parameters and bodies never gives a 5xx', async () => {
  const request = fc.record({ endpoint: fc.constantFrom(...endpoints), id: garbage, queryText, body, contentType });
  const property = fc.asyncProperty(
    request,
    async ({ endpoint, id, queryText: query, body: text, contentType: type }) => {
      const path = endpoint.path.replace('{id}', escapeLoose(id).slice(0, 2000));
      const answer = await rawRequest(server.port, {
        method: endpoint.method.toUpperCase(),
        path: `${path}?${query}`,
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': type },
        body: [text],
      });
      expect(answer.status).toBeLessThan(500);
      const told = answer.status < 400 ? answer.status : (JSON.parse(answer.text) as { status: number }).status;
      expect(told).toBe(answer.status);
    },
  );
  await fc.assert(property, { numRuns: 1_000 });
  expect(log.lines.filter((line) => line.level === 'error')).toEqual([]);
});

const EVENT_FIELDS = ['method', 'path', 'query', 'headers', 'url', 'rawQuery', 'bodyRaw', 'body'];

test('garbage at an endpoint never gives a 5xx, and what is accepted is JSON with the fields of an event', async () => {
  const type = fc.oneof(contentType, fc.constantFrom('application/+json', 'multipart/form-data; boundary='));
  const property = fc.asyncProperty(garbage, queryText, body, type, async (path, query, text, mediaType) => {
    const before = server.accepted.length;
    const answer = await rawRequest(server.port, {
      method: 'POST',
      path: `/e/known1/${escapeLoose(path)}?${query}`,
      headers: { 'content-type': mediaType },
      body: [text],
    });
    expect(answer.status).toBe(200);
    const event = JSON.parse(server.accepted[before] ?? '') as object;
    expect(Object.keys(event)).toEqual(EVENT_FIELDS);
  });
  await fc.assert(property, { numRuns: 300 });
});

test('the position of an error in JSON is inside the text, and what precedes it is the beginning of some JSON', () => {
  const broken = fc
    .tuple(fc.json(), fc.nat(), fc.string({ minLength: 1, maxLength: 3 }))
    .map(([text, at, noise]) => text.slice(0, at % (text.length + 1)) + noise + text.slice(at % (text.length + 1)))
    .filter((text) => !isJson(text));
  fc.assert(
    fc.property(broken, (text) => {
      const position = findJsonError(text);
      expect(position).toBeGreaterThanOrEqual(0);
      expect(position).toBeLessThanOrEqual(text.length);
      // Anything may be wrong after the position, but nothing before: cut there, only the end is
      // missed.
      expect(findJsonError(text.slice(0, position))).toBe(position);
    }),
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
