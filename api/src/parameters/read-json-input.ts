import type { z } from '@hono/zod-openapi';
import { HeadwaterError } from '@headwater/shared';
import type { ApiContext } from '../environment.ts';
import { readBodyBytes, utf8Text } from './read-body.ts';
import { explainIssue } from './read-parameters.ts';

const MAX_BODY_BYTES = 4_096;

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
    throw new HeadwaterError('INVALID_REQUEST', `Send ${shape} in the body alone`, {
      fields: inQuery.map((path) => ({ path, message: 'is no parameter of this request' })),
    });
  const { incoming } = c.env;
  const text = incoming === undefined ? await c.req.text() : utf8Text(await readBodyBytes(incoming, maxBytes));
  const parsed = schema.safeParse(parseJson(text), { error: explainIssue });
  if (parsed.success) return parsed.data;
  throw new HeadwaterError('INVALID_REQUEST', `Send ${shape} with texts that are not too long`, {
    fields: parsed.error.issues.flatMap((issue) => {
      const { path, message } = issue;
      const names = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path];
      return names.map((name) => ({ path: name.join('.'), message }));
    }),
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HeadwaterError('INVALID_REQUEST', 'The body is not JSON');
  }
}
