import { z } from '@hono/zod-openapi';
import { type Endpoint, itemEndpoint } from '../endpoint.ts';
import { given } from '../parameters/given.ts';
import { codeParameter, httpUrlParameter } from '../parameters/schemas.ts';
import { componentSchema, presentComponent } from '../resources/component.ts';

const tag = 'Components';

export function componentEndpoints(): Endpoint[] {
  return [
    itemEndpoint({
      method: 'post',
      path: '/v1/components',
      name: 'createComponent',
      tag,
      summary: 'Save a component',
      description: 'From its code or from a URL where the code is. With both, the code wins.',
      parameters: z
        .object({ component_code: codeParameter().optional(), component_url: httpUrlParameter().optional() })
        .refine((input) => input.component_code !== undefined || input.component_url !== undefined, {
          path: ['component_code'],
          message: 'or component_url is required',
        }),
      schema: componentSchema,
      handle: async ({ engine, who, input }) => {
        const choice = given({ componentCode: input.component_code, componentUrl: input.component_url });
        return presentComponent(await engine.components.save(who, choice));
      },
    }),
    itemEndpoint({
      method: 'get',
      path: '/v1/components/{id}',
      name: 'getComponent',
      tag,
      summary: 'A saved component',
      pathId: 'The id of the component (`sc_…`), or its key: then the newest version.',
      parameters: z.object({}),
      schema: componentSchema,
      handle: async ({ engine, who, id }) => presentComponent(await engine.components.get(who, id)),
    }),
  ];
}
