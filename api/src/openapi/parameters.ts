import { z } from '@hono/zod-openapi';
import { fieldParameters } from '../parameters/schemas.ts';
import { parameterKinds } from '../parameters/read-parameters.ts';

const JSON_KINDS: ReadonlySet<string> = new Set(['object', 'batch', 'any']);

const IN_BODY_TOO = 'May be given in the body instead.';

/**
 * The query string of an endpoint. What may come in the body as well is required in neither place.
 */
export function describeQuery(parameters: z.ZodObject, hasBody: boolean): z.ZodObject {
  const kinds = parameterKinds(parameters);
  const shape = Object.entries(parameters.shape).map(([name, type]) => {
    const schema = type as z.ZodType;
    if (!hasBody || name in fieldParameters) return [name, schema];
    return [name, describeInQuery(schema, JSON_KINDS.has(kinds.get(name) ?? 'text'))];
  });
  return z.object(Object.fromEntries(shape) as Record<string, z.ZodType>);
}

function describeInQuery(schema: z.ZodType, asJson: boolean): z.ZodType {
  if (asJson)
    return z
      .string()
      .optional()
      .openapi({ description: `As JSON text. ${IN_BODY_TOO}` });
  return schema.optional();
}

/** The JSON body, or undefined where there is nothing to give. */
export function describeBody(parameters: z.ZodObject, takesAnyName = false) {
  const shape = Object.entries(parameters.shape).filter(([name]) => !(name in fieldParameters));
  if (shape.length === 0) return undefined;
  const members = Object.fromEntries(shape) as Record<string, z.ZodType>;
  const schema = takesAnyName ? z.object(members) : z.strictObject(members);
  const description = 'Required parameters may be given in the query string instead.';
  return { description, required: false, content: { 'application/json': { schema } } };
}
