import { setImmediate } from 'node:timers/promises';
import { OpenAPIHono, z } from '@hono/zod-openapi';
import type { App } from '../app-options.ts';
import type { Endpoint } from '../endpoint.ts';
import { LIMITS } from '@headwater/shared';
import { KEY_HEADER, REPLAYED_HEADER } from '../idempotent-answers.ts';
import { registerArchives } from '../routes/archives.ts';
import { registerOAuth } from '../routes/oauth.ts';
import { registerSession } from '../routes/session-document.ts';
import { STREAM_TOKEN } from '../stream-token.ts';
import { registerWaitUrls } from '../routes/wait-urls.ts';
import { registerDelivery } from './delivery-webhook.ts';
import { addExamples, type ExampledDocument } from './examples.ts';
import { registerEndpointsOfSources, registerProbes } from './other-paths.ts';
import { registerProblems } from './problems.ts';
import { describeBody, describeQuery } from './parameters.ts';
import { rateLimitSchema } from './rate-limit.ts';
import { TAGS } from './tags.ts';

const ABOUT = `Parameters of every request that changes something are taken from the query string and from a JSON body; the body wins. Reads ignore parameters that they do not know. Writes answer 400 and name them, with the nearest known one, also inside of objects. An update takes what the resource shows as it is: it may be read, changed and sent back whole.
Answers are \`{ "data": … }\`; lists add \`page_info\`. Timestamps of resources are epoch seconds, those of events and runs epoch milliseconds.
A resource of another account answers 404. Every POST takes an \`idempotency-key\`. Sources, webhooks, workflows, subscriptions, limits of accounts and records of data stores have an \`etag\`: a change that names it in \`if-match\` answers 412, and writes nothing, where somebody else has changed the resource since. Changes of other resources refuse the header with 400. JSON answers of more than a packet are compressed with br or gzip, as \`accept-encoding\` takes it; exports and streams are not.`;

type Registry = App['openAPIRegistry'];

const SECURITY: Record<Endpoint['access'], Record<string, string[]>[]> = {
  key: [{ apiKey: [] }],
  admin: [{ adminKey: [] }],
  either: [{ apiKey: [] }, { adminKey: [] }],
};

/**
 * Describing all of them at once would hold the thread for a tenth of a second, while others are
 * served.
 */
const ENDPOINTS_AT_ONCE = 4;

type Document = ReturnType<App['getOpenAPI31Document']>;

/** The OpenAPI 3.1 document, made from the schemas that validate. */
export async function openApiDocument(endpoints: readonly Endpoint[], publicUrl: string): Promise<Document> {
  const head = {
    openapi: '3.1.0',
    info: {
      title: 'Headwater',
      version: '1',
      description: ABOUT,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: [...TAGS],
  };
  const describe = (register: (registry: Registry) => void): Document => {
    const part = new OpenAPIHono();
    register(part.openAPIRegistry);
    return part.getOpenAPI31Document(head);
  };
  const document = describe(registerOthers);
  for (let first = 0; first < endpoints.length; first += ENDPOINTS_AT_ONCE) {
    await setImmediate();
    const group = endpoints.slice(first, first + ENDPOINTS_AT_ONCE);
    addPart(
      document,
      describe((registry) => registerEndpoints(registry, group)),
    );
  }
  await setImmediate();
  const given = endpoints.flatMap(({ name, example }) => (example === undefined ? [] : [[name, example] as const]));
  addExamples(document as unknown as ExampledDocument, new Map<string, unknown>(given));
  return document;
}

function addPart(document: Document, part: Document): void {
  for (const [path, operations] of Object.entries(part.paths ?? {}))
    document.paths = { ...document.paths, [path]: { ...document.paths?.[path], ...operations } };
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ...part.components?.schemas },
  };
}

function registerEndpoints(registry: Registry, endpoints: readonly Endpoint[]): void {
  const problems = registerProblems(registry);
  for (const endpoint of endpoints) {
    registry.registerPath({
      method: endpoint.method,
      path: endpoint.path,
      operationId: endpoint.name,
      tags: [endpoint.tag],
      summary: endpoint.summary,
      description: endpoint.description,
      security: [...SECURITY[endpoint.access], ...(endpoint.takesStreamToken === true ? [{ streamToken: [] }] : [])],
      request: describeRequest(endpoint),
      responses: { ...describeSuccess(endpoint), ...problems(endpoint) },
    });
  }
}

/** Keys, and paths that are no endpoints of the API. */
function registerOthers(registry: Registry): void {
  registry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    description: 'A key of the account.',
  });
  registry.registerComponent('securitySchemes', 'adminKey', {
    type: 'http',
    scheme: 'bearer',
    description: 'The key of the operator.',
  });
  registry.registerComponent('securitySchemes', 'streamToken', {
    type: 'apiKey',
    in: 'query',
    name: STREAM_TOKEN,
    description: 'Of `POST /v1/streams/token`, for streams alone.',
  });
  registerEndpointsOfSources(registry);
  registerOAuth(registry);
  registerWaitUrls(registry);
  registerSession(registry);
  registerArchives(registry);
  registerProbes(registry);
  registerDelivery(registry);
}

const ifMatchHeader = z.object({
  'if-match': z.string().optional().openapi({
    description:
      'The `etag` that the resource had when it was read. Where it has another by now, the answer is 412 and nothing is written. Absent: whatever it has.',
    example: '"3"',
  }),
});

const ifNoneMatchHeader = z.object({
  'if-none-match': z.string().optional().openapi({
    description: '`*`: only where there is none yet. Else the answer is 412 and nothing is written.',
    example: '*',
  }),
});

const keyHeader = z.object({
  [KEY_HEADER]: z
    .string()
    .max(LIMITS.maxIdempotencyKeyChars)
    .optional()
    .openapi({
      description: `Names the request, so that it may be sent again: for ${LIMITS.idempotencyKeyHours} hours the same key with the same path and body gets the same answer, with \`${REPLAYED_HEADER}: true\`, and nothing is done twice. Another path or body with it is a 422; while the request is under way the answer is a 409 with \`retry-after\`.`,
      example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
    }),
});

const etagHeader = z.object({
  etag: z.string().openapi({ description: 'Its revision, for `if-match` of a change.', example: '"3"' }),
});

function describeRequest(endpoint: Endpoint) {
  const body = endpoint.method === 'get' ? undefined : describeBody(endpoint.parameters, endpoint.takesAnyName);
  const headers = describeHeaders(endpoint);
  return {
    query: describeQuery(endpoint.parameters, endpoint.method !== 'get'),
    ...(endpoint.pathId === undefined
      ? {}
      : { params: z.object({ id: z.string().openapi({ description: endpoint.pathId }) }) }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  };
}

function describeHeaders({ method, isVersioned, mayCreate }: Endpoint) {
  const isConditional = isVersioned === true && method !== 'get';
  if (method === 'post') return isConditional ? keyHeader.extend(ifMatchHeader.shape) : keyHeader;
  if (mayCreate === true) return ifMatchHeader.extend(ifNoneMatchHeader.shape);
  return isConditional ? ifMatchHeader : undefined;
}

const pageInfoSchema = z
  .object({
    total_count: z.int().describe('How many there are over all pages.'),
    count: z.int().describe('How many this page has.'),
    start_cursor: z.string().nullable().describe('The cursor of the first item, for `before`. Null on an empty page.'),
    end_cursor: z.string().nullable().describe('The cursor of the last item, for `after`. Null on an empty page.'),
    scanned_until: z.int().optional().openapi({
      description:
        'Of a filtered list whose page ended before it had found as many as were asked for: how far back it has looked, in epoch milliseconds. `end_cursor` leads on from there.',
    }),
  })
  .openapi('PageInfo');

function describeSuccess(endpoint: Endpoint) {
  const { status, list, messages } = endpoint.success;
  if (messages === true) return { [status]: describeMessages(endpoint) };
  if (endpoint.schema === undefined) return { [status]: { description: 'Done.' } };
  const schema = list
    ? z.object({ page_info: pageInfoSchema, data: z.array(endpoint.schema).describe('The items of this page.') })
    : z.object({ data: endpoint.schema });
  const headers = {
    ...(endpoint.isVersioned === true ? { headers: etagHeader } : {}),
    ...(endpoint.isRateLimited === true ? { headers: rateLimitSchema } : {}),
  };
  // NDJSON is in the words of the operation: typed clients take one type of answer for each status.
  return { [status]: { description: 'Done.', ...headers, content: { 'application/json': { schema } } } };
}

/**
 * OpenAPI 3.1 has no words for the messages of a stream: their schema is named, and listed among
 * the others.
 */
function describeMessages({ schema }: Endpoint) {
  const text = z.string().openapi({ description: 'Messages with `id`, `event` and `data`; `data` is JSON.' });
  return {
    description: 'Messages, without end.',
    content: { 'text/event-stream': { schema: schema === undefined ? text : z.union([text, schema]) } },
  };
}
