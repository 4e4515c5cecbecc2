import { z } from '@hono/zod-openapi';
import { COMPONENT_TYPES } from '@headwater/shared';
import { componentSchema, componentSummarySchema } from '@headwater/shared/contract';
import { EXAMPLE_CODE } from '../openapi/example-code.ts';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { codeParameter, httpUrlParameter, pageParameters, textParameter } from '../parameters/schemas.ts';
import { presentComponent, presentComponentSummary } from '../resources/component.ts';
import { mapPage } from '../resources/page.ts';

const tag = 'Components';
const pathId =
  'The id of the component (`sc_…`), or its key: then the version published last, or the draft saved last.';
const OF_VERSION = 'Of a key. Default: the version published last, or where none is published the one saved last.';

export function componentEndpoints(): Endpoint[] {
  return [createComponent, listComponents, getComponent, deleteComponent, publishComponent, unpublishComponent];
}

const version = () => textParameter('maxNameChars', 1).optional();
const scope = () =>
  z.enum(['account', 'registry']).default('account').openapi({
    description: '`registry`: for all accounts of this instance; the limit `maxRegistryVersions` says whether you may.',
  });

const createComponent = itemEndpoint({
  method: 'post',
  path: '/v1/components',
  name: 'createComponent',
  example: { component_code: EXAMPLE_CODE },
  takesTurn: false,
  tag,
  summary: 'Save a component',
  description:
    'From its code or from a URL where the code is. With both, the code wins. It is a draft until it is published. With a key, the same code of the same version is saved once.',
  parameters: z
    .object({
      component_code: codeParameter().optional(),
      component_url: httpUrlParameter()
        .optional()
        .describe('Where the code is. Given with `component_code`, it says where that came from.'),
    })
    .refine((input) => input.component_code !== undefined || input.component_url !== undefined, {
      path: ['component_code'],
      message: 'or component_url is required',
    }),
  schema: componentSchema,
  handle: async ({ engine, who, input }) => {
    const choice = given({ componentCode: input.component_code, componentUrl: input.component_url });
    return presentComponent(await engine.components.save(who, choice));
  },
});

const listComponents = listEndpoint({
  method: 'get',
  path: '/v1/components',
  name: 'listComponents',
  tag,
  summary: 'The saved components of the account, newest first',
  description: 'Every version and draft, without its code.',
  parameters: z.object({
    type: z.enum(COMPONENT_TYPES).optional().describe('Only sources, only actions, or only transforms.'),
    q: textParameter('maxNameChars').optional().openapi({ description: 'A part of the name or the key.' }),
    key: textParameter('maxNameChars', 1).optional().openapi({ description: 'Versions and drafts of one key.' }),
    published: z.boolean().optional().openapi({ description: 'true: published ones alone; false: drafts alone.' }),
    ...pageParameters,
  }),
  schema: componentSummarySchema,
  handle: async ({ engine, who, input }) => {
    const { type, q: query, key, published: isPublished } = input;
    const request = { ...pageOf(input), ...given({ type, query, key, isPublished }) };
    return mapPage(await engine.components.list(who, request), presentComponentSummary);
  },
});

const getComponent = itemEndpoint({
  method: 'get',
  path: '/v1/components/{id}',
  name: 'getComponent',
  tag,
  summary: 'A saved component',
  description: 'With its code. The id may be that of a draft, or the key of a published component.',
  pathId,
  parameters: z.object({ version: version().openapi({ description: OF_VERSION }) }),
  schema: componentSchema,
  handle: async ({ engine, who, id, input }) => presentComponent(await engine.components.get(who, id, input.version)),
});

const deleteComponent = emptyEndpoint({
  method: 'delete',
  path: '/v1/components/{id}',
  name: 'deleteComponent',
  tag,
  summary: 'Delete a saved component',
  description: 'Refused while sources use it. What was published in the registry stays there: unpublish it first.',
  pathId,
  parameters: z.object({ version: version().openapi({ description: OF_VERSION }) }),
  status: 204,
  handle: async ({ engine, who, id, input }) => engine.components.delete(who, id, input.version),
});

const publishComponent = itemEndpoint({
  method: 'post',
  path: '/v1/components/{id}/publish',
  name: 'publishComponent',
  tag,
  summary: 'Publish a component under its key and version',
  description:
    'In the account, or in the registry of the instance. A published version never changes. In the registry the key is `<app_name_slug>-<name>`, the version a semantic one that comes after those before it.',
  pathId: 'The id of the component (`sc_…`). A key stands for what is published already, if anything is.',
  parameters: z.object({ scope: scope() }),
  schema: componentSchema,
  handle: async ({ engine, who, id, input }) => {
    const publishing = input.scope === 'registry' ? engine.registry : engine.components;
    return presentComponent(await publishing.publish(who, id));
  },
});

const unpublishComponent = itemEndpoint({
  method: 'post',
  path: '/v1/components/{id}/unpublish',
  name: 'unpublishComponent',
  tag,
  summary: 'Take back what was published',
  description:
    'In the account the version is a draft again. From the registry it is gone, its number is never free again, and sources that were deployed from it go on.',
  pathId,
  parameters: z.object({
    scope: scope(),
    version: version().openapi({ description: 'Of a key. Default: the newest.' }),
  }),
  schema: componentSchema,
  handle: async ({ engine, who, id, input }) => {
    if (input.scope === 'account') return presentComponent(await engine.components.unpublish(who, id, input.version));
    return presentComponent(await engine.registry.withdraw(who, id, input.version));
  },
});
