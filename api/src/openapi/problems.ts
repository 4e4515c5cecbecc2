import { z } from '@hono/zod-openapi';
import { ERRORS, type ErrorCode } from '@headwater/shared';
import { exceededLimitSchema } from '@headwater/shared/contract';
import type { App } from '../app-options.ts';
import type { Endpoint } from '../endpoint.ts';
import { PROBLEM_CONTENT_TYPE } from '../problem.ts';
import { rateLimitedSchema } from './rate-limit.ts';

const problemSchema = z
  .object({
    type: z.string().openapi({ example: 'urn:headwater:error:invalid-request', description: 'Stable; compare this.' }),
    title: z.string().describe('The meaning of `type`, in a few words.'),
    status: z.int().describe('The HTTP status of the answer.'),
    detail: z.string().describe('What went wrong with this request, for people.'),
    error: z.string().openapi({ description: 'The same as `detail`.' }),
    errors: z
      .array(
        z.object({
          path: z
            .string()
            .openapi({ description: 'The parameter, with dots between the levels.', example: 'configured_props.url' }),
          message: z.string().describe('What is wrong with its value.'),
          file: z.string().optional().openapi({ description: 'Of component code.' }),
          line: z.int().optional().openapi({ description: 'From 1.' }),
          column: z.int().optional().openapi({ description: 'From 0.' }),
        }),
      )
      .optional()
      .openapi({ description: 'Everything that is wrong with the input, at once.' }),
    limit: exceededLimitSchema.optional().openapi({ description: 'The limit that is the reason.' }),
    retry_after_seconds: z.int().optional().openapi({ description: 'Also the header `retry-after`.' }),
    request_id: z.string().openapi({ description: 'Also in the header `x-request-id`, and in the log.' }),
  })
  .openapi('Problem', { description: 'RFC 9457.' });

type Registry = App['openAPIRegistry'];
type Problems = Record<string, ReturnType<typeof describeProblem> & { headers?: z.ZodObject }>;

/** Registers the shape of errors; answers which errors an endpoint may give. */
export function registerProblems(registry: Registry): (endpoint: Endpoint) => Problems {
  registry.register('Problem', problemSchema);
  return (endpoint) => {
    const codes: ErrorCode[] = ['INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED', 'INTERNAL'];
    codes.push('UNAVAILABLE');
    if (endpoint.pathId !== undefined || endpoint.tag === 'Sends' || namesOthers(endpoint)) codes.push('NOT_FOUND');
    if (endpoint.tag === 'Connected accounts') codes.push('AUTH_FAILED');
    if (endpoint.method !== 'get') codes.push(...codesOfChanges(endpoint));
    if (endpoint.method !== 'get' && endpoint.access !== 'admin') codes.push('ACCOUNT_SUSPENDED');
    if (endpoint.method === 'post') codes.push('CONFLICT', 'KEY_REUSED');
    if (endpoint.method !== 'get' && endpoint.isVersioned === true) codes.push('PRECONDITION_FAILED');
    const byStatus = Map.groupBy(new Set(codes), (code) => ERRORS[code].status);
    return Object.fromEntries(
      [...byStatus].map(([status, same]) => [
        status,
        {
          ...describeProblem(same.map((code) => ERRORS[code].title).join('; or: '), same),
          ...(endpoint.isRateLimited === true && status === 429 ? { headers: rateLimitedSchema } : {}),
        },
      ]),
    );
  };
}

function namesOthers({ parameters }: Endpoint): boolean {
  return Object.keys(parameters.shape).some((name) => name.endsWith('_id'));
}

/** A prop's own code runs, within the limits of any run. */
const CODES_OF_PROP_RUNS: readonly ErrorCode[] = [
  'INVALID_PROPS',
  'CONFIGURATION_ERROR',
  'CPU_LIMIT',
  'WALL_LIMIT',
  'MEMORY_LIMIT',
  'OUTPUT_LIMIT',
  'RESOURCE_LIMIT',
  'SANDBOX_CRASHED',
];

/** NOT_FOUND is always possible, because a change may name other resources. */
function codesOfChanges({ tag, path }: Endpoint): ErrorCode[] {
  const codes: ErrorCode[] = ['NOT_FOUND', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_ENCODING', 'CONFLICT'];
  if (tag === 'Sources' || tag === 'Workflows') codes.push('HOOK_FAILED', 'INVALID_COMPONENT', 'INVALID_PROPS');
  if (tag === 'Components' || tag === 'Registry') codes.push('COMPONENT_ERROR', 'INVALID_COMPONENT');
  if (path.endsWith('/configure') || path.endsWith('/props')) codes.push(...CODES_OF_PROP_RUNS);
  return codes;
}

/** `codes`: what the problem may be, each with its example. */
export function describeProblem(description: string, codes: readonly ErrorCode[]) {
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
  return { description, content: { [PROBLEM_CONTENT_TYPE]: { schema: problemSchema, examples } } };
}
