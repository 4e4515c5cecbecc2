import type { z } from '@hono/zod-openapi';
import { codeParameter, httpUrlParameter, idParameter, textParameter } from './schemas.ts';

/** The ways to say which component something is made of. */
export const componentParameters = {
  component_id: idParameter('A saved component (`sc_…`).').optional(),
  component_key: textParameter('maxNameChars', 1)
    .optional()
    .openapi({ description: "The key of a component: the account's own, else that of the registry." }),
  component_version: textParameter('maxNameChars', 1)
    .optional()
    .openapi({ description: 'With a key. Default: the newest.' }),
  component_code: codeParameter().optional(),
  component_url: httpUrlParameter()
    .optional()
    .openapi({ description: 'Where the code is. With code beside it, the code wins.' }),
};

type ComponentInput = z.output<z.ZodObject<typeof componentParameters>>;

export function choiceOf(input: ComponentInput) {
  return {
    componentId: input.component_id,
    componentKey: input.component_key,
    componentVersion: input.component_version,
    componentCode: input.component_code,
    componentUrl: input.component_url,
  };
}

const UNCLEAR =
  'names a component in one way, and so do component_key, component_code and component_url: give one of them';

/** Tells of a choice that contradicts itself. */
export function checkChoice(input: ComponentInput, context: z.RefinementCtx): void {
  const { component_id, component_key, component_code, component_url, component_version } = input;
  const ways = [component_id, component_key, component_code ?? component_url].filter((way) => way !== undefined);
  if (ways.length > 1) context.addIssue({ code: 'custom', path: ['component_id'], message: UNCLEAR });
  if (component_version !== undefined && component_key === undefined)
    context.addIssue({ code: 'custom', path: ['component_version'], message: 'is a version of a component_key' });
}

export function hasChoice(input: ComponentInput): boolean {
  const { component_id, component_key, component_code, component_url } = input;
  return (component_id ?? component_key ?? component_code ?? component_url) !== undefined;
}
