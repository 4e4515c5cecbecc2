import { z } from '@hono/zod-openapi';
import { EXAMPLE_CODE } from '../openapi/example-code.ts';
import { INGEST_CODE } from '@headwater/engine';
import { HeadwaterError } from '@headwater/shared';
import { invocationSchema, runSchema, sourceSchema } from '@headwater/shared/contract';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint, versionedEndpoint } from '../endpoint.ts';
import { checkChoice, choiceOf, componentParameters, hasChoice } from '../parameters/component-choice.ts';
import { given, pageOf } from '../parameters/given.ts';
import {
  durabilityParameter,
  idParameter,
  jsonObjectParameter,
  pageParameters,
  preflightParameter,
  textParameter,
} from '../parameters/schemas.ts';
import { mapPage, versioned, wholePage } from '../resources/page.ts';
import { presentRun, presentSource } from '../resources/source.ts';

const tag = 'Sources';
const pathId = 'The id of the source (`dc_…`).';

const sourceParameters = {
  ...componentParameters,
  name: textParameter('maxNameChars', 1).optional().openapi({ description: "Default: the component's name." }),
  configured_props: jsonObjectParameter().optional().openapi({
    description:
      'Values by prop name. A timer is given as `{ "intervalSeconds": 60 }` or `{ "cron": "…", "timezone": "…" }`, an app as `{ "authProvisionId": "apn_…" }`, a data store as its id. In an update what is not named stays, secrets too, and null removes.',
  }),
  dynamic_props_id: idParameter(
    'Props that `POST /v1/components/{id}/props` has answered (`dyp_…`). Without it the component is asked where a prop with `reloadProps` is set.',
  ).optional(),
  preflight: preflightParameter().optional(),
  durability: durabilityParameter().optional(),
};

type SourceInput = z.output<z.ZodObject<typeof sourceParameters>>;

function toChange(input: SourceInput) {
  return given({
    ...choiceOf(input),
    name: input.name,
    configuredProps: input.configured_props,
    dynamicPropsId: input.dynamic_props_id,
    preflight: input.preflight,
    durability: input.durability,
  });
}

export function sourceEndpoints(): Endpoint[] {
  return [createSource, getSource, updateSource, deleteSource, runSource, listRuns];
}

const createSource = itemEndpoint({
  method: 'post',
  path: '/v1/sources',
  name: 'createSource',
  example: { component_code: EXAMPLE_CODE, name: 'Orders' },
  takesTurn: false,
  tag,
  summary: 'Deploy a source',
  description: 'Saves the component where code is given, then runs its `deploy` and `activate` hooks.',
  parameters: z
    .object({
      ...sourceParameters,
      kind: z.literal('ingest').optional().openapi({
        description:
          'In place of a component: a source for events that `POST /v1/sources/{id}/events` brings, without code of your own.',
      }),
    })
    .refine((input) => input.kind !== undefined || hasChoice(input), {
      path: ['component_id'],
      message: 'or component_key, component_code or component_url is required',
    })
    .superRefine(checkChoice),
  schema: sourceSchema,
  handle: async ({ engine, who, input }) => {
    const change = toChange(input);
    if (input.kind === undefined) return presentSource(await engine.sources.create(who, change));
    if (hasChoice(input)) {
      const message = 'kind stands in place of a component: give no component beside it';
      throw new HeadwaterError('INVALID_REQUEST', message);
    }
    return presentSource(await engine.sources.create(who, { ...change, componentCode: INGEST_CODE }));
  },
});

const getSource = versionedEndpoint({
  method: 'get',
  path: '/v1/sources/{id}',
  name: 'getSource',
  tag,
  summary: 'A source',
  description: 'With its props, without secret values. `etag` is for `if-match` of a change.',
  pathId,
  parameters: z.object({}),
  schema: sourceSchema,
  handle: async ({ engine, who, id }) => versioned(await engine.sources.get(who, id), presentSource),
});

const updateSource = versionedEndpoint({
  method: 'put',
  path: '/v1/sources/{id}',
  name: 'updateSource',
  takesTurn: false,
  tag,
  summary: 'Change code, props or name of a source, or stop and start it',
  description: 'Runs `deactivate` before and `activate` after the change. What is not given stays as it is.',
  pathId,
  parameters: z
    .object({
      ...sourceParameters,
      active: z.boolean().optional().openapi({ description: 'false stops the source, true starts it again.' }),
      if_changed: z.boolean().optional().openapi({
        description:
          'true: where code, props, name and state are already as given, nothing is done. No hook runs, and the `ETag` stays.',
      }),
    })
    .superRefine(checkChoice),
  schema: sourceSchema,
  handle: async ({ engine, who, id, input, expected }) => {
    const change = { ...toChange(input), ...given({ active: input.active, ifChanged: input.if_changed }) };
    return versioned(await engine.sources.update(who, id, change, expected), presentSource);
  },
});

const deleteSource = emptyEndpoint({
  method: 'delete',
  path: '/v1/sources/{id}',
  name: 'deleteSource',
  takesTurn: false,
  tag,
  summary: 'Delete a source',
  description: 'Runs its `deactivate` hook first.',
  isVersioned: true,
  pathId,
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id, expected }) => engine.sources.delete(who, id, expected),
});

const runSource = itemEndpoint({
  method: 'post',
  path: '/v1/sources/{id}/run',
  name: 'runSource',
  takesTurn: false,
  tag,
  summary: 'Run a source now',
  description: 'The run is queued like any other, and waits for its turn. Its id is also in `x-headwater-run`.',
  pathId,
  parameters: z.object({
    event: z.unknown().optional().openapi({ description: 'What `run` gets. Default: one that fits its interfaces.' }),
  }),
  schema: invocationSchema,
  runIdOf: (run) => run.invocation_id,
  handle: async ({ engine, who, id, input, caller }) => {
    const { invocationId } = await engine.sources.run(who, id, input.event, caller);
    return { invocation_id: invocationId };
  },
});

const listRuns = listEndpoint({
  method: 'get',
  path: '/v1/sources/{id}/runs',
  name: 'listRuns',
  tag,
  summary: 'Runs that logged or failed, newest first',
  pathId,
  description:
    'With `include_quiet` also those that no event leads to: they emitted nothing, or dedupe dropped it all. These come in pages, by when they were invoked.',
  parameters: z
    .object({
      ...pageParameters,
      include_quiet: z.boolean().default(false).openapi({
        description: 'true: also runs that neither logged nor failed, and that no stored event comes from.',
      }),
    })
    .refine(({ include_quiet: all, after, before }) => all || !(after || before), {
      path: ['include_quiet'],
      message: 'must be true with after or before: the other list has one page',
    }),
  schema: runSchema,
  handle: async ({ engine, who, id, input }) => {
    if (input.include_quiet) return mapPage(await engine.sources.runsWithQuiet(who, id, pageOf(input)), presentRun);
    const runs = await engine.sources.runs(who, id, input.limit);
    return mapPage(
      wholePage(runs, (run) => run.id),
      presentRun,
    );
  },
});
