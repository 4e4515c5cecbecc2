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

export function choiceIsClear(input: ComponentInput): boolean {
  const { component_id, component_key, component_code, component_url } = input;
  return [component_id, component_key, component_code ?? component_url].filter((way) => way !== undefined).length <= 1;
}

export const unclearChoice = {
  path: ['component_id'],
  message: 'names a component in one way, and so do component_key, component_code and component_url: give one of them',
};

export function hasChoice(input: ComponentInput): boolean {
  const { component_id, component_key, component_code, component_url } = input;
  return (component_id ?? component_key ?? component_code ?? component_url) !== undefined;
}
