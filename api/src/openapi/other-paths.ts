import { z } from '@hono/zod-openapi';
import { ERRORS, LIMITS } from '@headwater/shared';
import type { App } from '../app-options.ts';
import { RUN_HEADER } from '../run-header.ts';
import { describeProblem } from './problems.ts';
import { rateLimitedSchema, rateLimitSchema } from './rate-limit.ts';

type Registry = App['openAPIRegistry'];

const runHeader = z.object({
  [RUN_HEADER]: z.string().openapi({
    description: 'The run (`inv_…`) or execution (`exec_…`) that the request has become, for `GET /v1/traces/{id}`.',
  }),
});

const ENDPOINT_DESCRIPTION = `Any method, any path below it. A CORS preflight (\`OPTIONS\` with \`access-control-request-method\`) is answered with 204 and runs nothing, unless the source's or workflow's \`preflight\` is \`run\`.
 The source's \`run\` gets \`{ method, path, query, headers, url, rawQuery, bodyRaw, body }\`:
\`path\` is what follows the key, as it was sent ("/" where nothing does); \`query\` maps names to a string, or to an array where a name is repeated; header names are in lower case. \`url\` is the whole URL as the client wrote it, \`rawQuery\` the query as it was sent.
\`bodyRaw\` is the body as it was sent: its text where it is UTF-8, else the base64 of its bytes, and \`isBase64Encoded\` is true; "" without one. \`body\` is read in the charset of the content type, else as UTF-8, and decompressed where there is a \`content-encoding\` (gzip, deflate, br, zstd). It is null without a body; parsed for JSON content types (the string where it does not parse);
an object for \`application/x-www-form-urlencoded\` and \`multipart/form-data\`, one key a field, an array where a field is repeated, a file as \`{ filename, mimetype, size, encoding: "base64", content }\`; else, and for forms of more than ${LIMITS.maxFormFields} fields, the string.
Each answer to a request that was stored, an error after that included, has the header \`x-headwater-run\`: the id of its run or execution, of which \`GET /v1/traces/{id}\` tells what has become.
Without \`customResponse\` the answer is a 200 once the request is stored, with \`access-control-allow-origin: *\`. With it the source answers; statuses below 200, headers of the connection and those that would affect other endpoints of this host are not passed on.`;

const keptSchema = z.object({
  status: z.enum(['accepted', 'waiting']).describe('`waiting`: an execution waits, and goes on later.'),
  detail: z.string().optional().describe('Why there is no answer of the source.'),
  execution_id: z.string().optional().describe('Of the execution that waits.'),
});

export function registerEndpointsOfSources(registry: Registry): void {
  for (const method of ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const) {
    registry.registerPath({
      method,
      path: '/e/{key}',
      operationId: `${method}Endpoint`,
      tags: ['Endpoints'],
      summary: 'The HTTP interface of a source',
      description: ENDPOINT_DESCRIPTION,
      security: [],
      request: {
        params: z.object({ key: z.string().openapi({ description: 'The unguessable part of `endpoint_url`.' }) }),
      },
      responses: {
        200: {
          description: 'Stored, and run next; or whatever the source answers.',
          headers: runHeader.extend(rateLimitSchema.shape),
          content: {
            'application/json': { schema: z.object({ status: z.literal('ok').describe('The event is stored.') }) },
          },
        },
        202: {
          description:
            'The request is stored, and this node could not wait for the answer of the source: it stops, or another node has taken the run over. The run comes later, so do not send the request again. With `execution_id`: the execution waits.',
          headers: runHeader.extend(rateLimitSchema.shape),
          content: { 'application/json': { schema: keptSchema } },
        },
        400: describeProblem('The run ended without the answer that was due', ['NO_RESPONSE']),
        404: describeProblem('No such endpoint, or its source is stopped', ['NOT_FOUND']),
        413: describeProblem(`The body is larger than ${LIMITS.maxHttpBodyBytes} bytes, as sent or decompressed`, [
          'PAYLOAD_TOO_LARGE',
        ]),
        429: {
          ...describeProblem(
            'More requests than `maxRequestsPerSecond` of the account allows, or more that waits than `maxQueuedInvocations` and `maxQueuedBytes`; `retry-after` says when to try again',
            ['RATE_LIMITED'],
          ),
          headers: rateLimitedSchema,
        },
        503: describeProblem(`${ERRORS.UNAVAILABLE.title}; or: ${ERRORS.ENDPOINT_SUSPENDED.title}`, [
          'UNAVAILABLE',
          'DATABASE_AWAY',
          'ENDPOINT_SUSPENDED',
        ]),
      },
    });
  }
}

const serverSchema = z.object({
  name: z.string().describe('`Headwater`.'),
  api: z.string().describe('Where the REST API begins.'),
  openapi: z.string().describe('Where its description is.'),
});
const healthSchema = z.object({
  status: z
    .enum(['ok', 'unavailable', 'stopping'])
    .describe('`ok`: it works. `unavailable`: something that it needs is away. `stopping`: it ends its work.'),
  problems: z.array(z.string()).optional().openapi({ description: 'What keeps it from its work, in words.' }),
  workers: z
    .object({
      wanted: z.int().describe('As many as `HEADWATER_WORKERS` says.'),
      up: z.int().describe('Those that serve now.'),
    })
    .optional()
    .openapi({ description: 'The workers of this machine, where it runs several.' }),
});
const aliveSchema = z.object({ status: z.literal('ok').describe('The process runs.') });

/** Node's own refusal, before any route. */
const TOO_LARGE = { 431: describeProblem(`The headers are larger than ${LIMITS.maxHeaderBytes} bytes`, []) };

export function registerProbes(registry: Registry): void {
  registry.registerPath({
    method: 'get',
    path: '/',
    operationId: 'getServer',
    tags: ['Server'],
    summary: 'Where the API and this document are',
    description: 'A browser gets the web UI here.',
    security: [],
    responses: {
      200: { description: 'Addresses.', content: { 'application/json': { schema: serverSchema } } },
      ...TOO_LARGE,
    },
  });
  registry.registerPath({
    method: 'get',
    path: '/openapi.json',
    operationId: 'getOpenApi',
    tags: ['Server'],
    summary: 'This document',
    description: 'OpenAPI 3.1. It needs no key, has an `etag`, and comes compressed where the client takes that.',
    security: [],
    responses: {
      200: { description: 'The document.', content: { 'application/json': { schema: z.looseObject({}) } } },
      429: describeProblem(ERRORS.RATE_LIMITED.title, ['RATE_LIMITED']),
    },
  });
  registerHealth(registry);
  registry.registerPath({
    method: 'get',
    path: '/metrics',
    operationId: 'getMetrics',
    tags: ['Server'],
    summary: 'Figures as Prometheus text',
    description: 'Made at most twice a second; all who ask meanwhile get the same.',
    security: [],
    responses: {
      200: { description: 'Figures.', content: { 'text/plain': { schema: z.string() } } },
      429: describeProblem(ERRORS.RATE_LIMITED.title, ['RATE_LIMITED']),
    },
  });
}

function registerHealth(registry: Registry): void {
  const health = { 'application/json': { schema: healthSchema } };
  for (const [path, operationId] of [
    ['/readyz', 'getReadiness'],
    ['/healthz', 'getHealth'],
  ] as const) {
    registry.registerPath({
      method: 'get',
      path,
      operationId,
      tags: ['Server'],
      summary: path === '/readyz' ? 'Whether this node can do its work now, and why not' : 'The same as `/readyz`',
      description: 'For load balancers: a node that answers 503 should get no requests.',
      security: [],
      responses: {
        200: { description: 'It can.', content: health },
        503: { description: 'It cannot. It goes on by itself once `problems` are solved.', content: health },
        ...TOO_LARGE,
      },
    });
  }
  registry.registerPath({
    method: 'get',
    path: '/livez',
    operationId: 'getLiveness',
    tags: ['Server'],
    summary: 'Whether this process runs, whatever becomes of its database',
    description: 'For what starts processes anew when they hang.',
    security: [],
    responses: {
      200: { description: 'It does.', content: { 'application/json': { schema: aliveSchema } } },
      ...TOO_LARGE,
    },
  });
}
