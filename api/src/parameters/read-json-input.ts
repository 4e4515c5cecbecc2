import type { z } from '@hono/zod-openapi';
import { type FieldError, HeadwaterError } from '@headwater/shared';
import type { ApiContext } from '../environment.ts';
import { readBodyBytes, utf8Text } from './read-body.ts';
import { explainIssue, invalid } from './read-parameters.ts';

const MAX_BODY_BYTES = 4_096;
const UNKNOWN = 'is not a parameter of this request';

/** JSON alone: a form of another site cannot sign a browser in. */
export async function readJsonInput<S extends z.ZodType>(
  c: ApiContext,
  schema: S,
  shape: string,
  maxBytes = MAX_BODY_BYTES,
): Promise<z.output<S>> {
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) {
    throw new HeadwaterError('INVALID_REQUEST', `Send ${shape} as application/json`);
  }
  const inQuery = Object.keys(c.req.query());
  if (inQuery.length > 0)
    throw invalid(
      inQuery.map((path) => ({ path, message: UNKNOWN })),
      `Send ${shape} in the body alone`,
    );
  const { incoming } = c.env;
  const text = incoming === undefined ? await c.req.text() : utf8Text(await readBodyBytes(incoming, maxBytes));
  const parsed = schema.safeParse(parseJson(text), { error: explainIssue });
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues.flatMap(fieldsOf), `Send ${shape}`);
}

function fieldsOf(issue: z.core.$ZodIssue): FieldError[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: UNKNOWN }));
  const message = issue.code === 'invalid_union' ? 'has none of these forms' : issue.message;
  return [{ path: path.join('.') || 'body', message }];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HeadwaterError('INVALID_REQUEST', 'The body is not JSON');
  }
}
