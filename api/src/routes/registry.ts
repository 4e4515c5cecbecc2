import { z } from '@hono/zod-openapi';
import { COMPONENT_TYPES, isStorableText, UNSTORABLE } from '@headwater/shared';
import { importSchema, registryComponentSchema, registrySummarySchema } from '@headwater/shared/contract';
import { EXAMPLE_CODE } from '../openapi/example-code.ts';
import { adminEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { idParameter, pageParameters, textParameter } from '../parameters/schemas.ts';
import { presentRegistryComponent, presentRegistrySummary } from '../resources/component.ts';
import { presentImport } from '../resources/registry-import.ts';
import { mapPage } from '../resources/page.ts';

const tag = 'Registry';
const OPERATOR = 'Takes the key of the operator.';
const pathId = 'The key of the component, or the id of one version.';

const versionParameters = {
  version: textParameter('maxNameChars', 1).optional().openapi({ description: 'Default: the newest.' }),
};

/** Before those of components: `/v1/components/registry` is no component of that key. */
export function registryEndpoints(): Endpoint[] {
  return [
    searchRegistry,
    getRegistryComponent,
    addRegistryComponent,
    withdrawRegistryComponent,
    startImport,
    getImport,
  ];
}

const searchRegistry = listEndpoint({
  method: 'get',
  path: '/v1/components/registry',
  name: 'searchRegistry',
  tag,
  summary: 'The components that every account of this instance may deploy',
  description: 'The newest version of each key, by key; with `q` those first whose name or key has all words.',
  parameters: z.object({
    q: textParameter('maxNameChars')
      .optional()
      .openapi({ description: 'Beginnings of words of name, key and description; all have to be there.' }),
    type: z.enum(COMPONENT_TYPES).optional().describe('Only sources, only actions, or only transforms.'),
    app: textParameter('maxNameChars', 1).optional().openapi({ description: 'The slug of an app.' }),
    ...pageParameters,
  }),
  schema: registrySummarySchema,
  handle: async ({ engine, who, input }) => {
    const { q: query, type, app } = input;
    const page = await engine.registry.search(who, { ...pageOf(input), ...given({ query, type, app }) });
    return mapPage(page, presentRegistrySummary);
  },
});

const getRegistryComponent = itemEndpoint({
  method: 'get',
  path: '/v1/components/registry/{id}',
  name: 'getRegistryComponent',
  tag,
  summary: 'A component of the registry',
  description: 'The newest version, unless `version` names another.',
  pathId,
  parameters: z.object(versionParameters),
  schema: registryComponentSchema,
  handle: async ({ engine, who, id, input }) =>
    presentRegistryComponent(await engine.registry.get(who, id, input.version)),
});

const addRegistryComponent = adminEndpoint({
  method: 'post',
  path: '/v1/registry/components',
  name: 'addRegistryComponent',
  takesTurn: false,
  tag,
  summary: 'Publish a component of any account in the registry',
  description: `${OPERATOR} The account remains the owner of the key.`,
  parameters: z.object({ component_id: idParameter('A saved component (`sc_…`).') }),
  schema: registryComponentSchema,
  handle: async ({ engine, input }) =>
    presentRegistryComponent(await engine.registry.publishForOperator(input.component_id)),
});

const withdrawRegistryComponent = adminEndpoint({
  method: 'delete',
  path: '/v1/registry/components/{id}',
  name: 'withdrawRegistryComponent',
  tag,
  summary: 'Take a version out of the registry',
  description: `${OPERATOR} Answers what it was. Sources that were deployed from it go on.`,
  pathId,
  parameters: z.object(versionParameters),
  schema: registryComponentSchema,
  handle: async ({ engine, id, input }) =>
    presentRegistryComponent(await engine.registry.withdrawForOperator(id, input.version)),
});

const startImport = itemEndpoint({
  method: 'post',
  path: '/v1/registry/import',
  name: 'startImport',
  example: { files: { 'sources/orders.mjs': EXAMPLE_CODE } },
  takesTurn: false,
  tag,
  summary: 'Import a folder of apps with their sources and actions',
  description:
    'Every file in a folder `sources` or `actions` that exports a component is bundled with the files it imports, saved and published. Packages have the versions of the nearest `package.json`. It goes on in the background: `GET /v1/registry/imports/{id}` tells how far.',
  parameters: z
    .object({
      scope: z.enum(['draft', 'account', 'registry']).default('account').openapi({
        description: '`draft`: saved alone; `account`, `registry`: published there as well.',
      }),
      files: z.record(z.string(), z.string().refine(isStorableText, UNSTORABLE)).optional().openapi({
        description: 'Text by path: `{ "slack/actions/send/send.mjs": "…" }`.',
      }),
      archive: z.string().optional().openapi({ description: 'The same as a gzipped tar archive, in base64.' }),
    })
    .refine(({ files, archive }) => (files === undefined) !== (archive === undefined), {
      path: ['files'],
      message: 'or archive is required, and not both',
    }),
  schema: importSchema,
  handle: async ({ engine, who, input }) => {
    const { scope, files, archive } = input;
    return presentImport(await engine.imports.start(who, { scope, ...given({ files, archive }) }));
  },
});

const getImport = itemEndpoint({
  method: 'get',
  path: '/v1/registry/imports/{id}',
  name: 'getImport',
  tag,
  summary: 'How far an import is, and what became of each component',
  description: 'Ask again while `status` is `running`.',
  pathId: 'The id of the import (`imp_…`).',
  parameters: z.object({}),
  schema: importSchema,
  handle: async ({ engine, who, id }) => presentImport(await engine.imports.get(who, id)),
});
