import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { type Endpoint, itemEndpoint } from '../endpoint.ts';
import { given } from '../parameters/given.ts';
import { idParameter, jsonObjectParameter, textParameter } from '../parameters/schemas.ts';

const tag = 'Components';
const pathId = 'The id of the component (`sc_…`), or its key: then the newest version.';

const formParameters = {
  configured_props: jsonObjectParameter().optional().openapi({
    description:
      'Values by prop name, as far as there are any. Those that are given must fit their props, and a name that no prop has is refused.',
  }),
  dynamic_props_id: idParameter('What an earlier `POST /v1/components/{id}/props` answered (`dyp_…`).').optional(),
  source_id: idParameter(
    'A source of the account (`dc_…`): what it is configured with counts where nothing is given, secrets included, and null removes.',
  ).optional(),
};

type FormInput = z.output<z.ZodObject<typeof formParameters>>;

function formOf(input: FormInput) {
  return given({
    configuredProps: input.configured_props,
    dynamicPropsId: input.dynamic_props_id,
    sourceId: input.source_id,
  });
}

export function componentPropEndpoints(): Endpoint[] {
  return [configureProp, reloadProps];
}

const configureProp = itemEndpoint({
  method: 'post',
  path: '/v1/components/{id}/configure',
  name: 'configureProp',
  takesTurn: false,
  tag,
  summary: 'The choices for a prop',
  description:
    'Runs the `options` of a prop with the values and connected accounts that are configured so far. Nothing is emitted or stored.',
  pathId,
  parameters: z.object({
    prop_name: textParameter('maxNameChars', 1).describe('The prop whose `options` are asked for.'),
    ...formParameters,
    page: z.int().min(0).optional().openapi({ description: 'From 0.' }),
    prev_context: z.unknown().optional().openapi({ description: '`context` of the answer before.' }),
    query: textParameter('maxNameChars')
      .optional()
      .openapi({ description: 'What the user has typed, for props with `useQuery`.' }),
  }),
  schema: z
    .object({
      options: z
        .array(
          z.object({
            label: z.string().describe('What a form shows.'),
            value: z.unknown().describe('What goes into the prop.'),
          }),
        )
        .describe('The options of this page.'),
      context: z.unknown().optional().openapi({ description: 'For `prev_context` of the next request.' }),
    })
    .openapi('PropOptions'),
  handle: async ({ engine, who, id, input }) => {
    const { prop_name: propName, page, prev_context: prevContext, query } = input;
    const request = { propName, ...given({ page, prevContext, query }), ...formOf(input) };
    return engine.componentProps.options(who, id, request);
  },
});

const reloadProps = itemEndpoint({
  method: 'post',
  path: '/v1/components/{id}/props',
  name: 'reloadProps',
  takesTurn: false,
  tag,
  summary: 'The further props that a component has for its values',
  description: `Runs \`additionalProps\`. What it answers replaces what it answered before; the id names it when a source is deployed, for ${LIMITS.dynamicPropsMs / 3_600_000} hours.`,
  pathId,
  parameters: z.object(formParameters),
  schema: z
    .object({
      dynamic_props: z
        .object({
          id: z
            .string()
            .openapi({ description: 'The id to give as `dynamic_props_id`.', example: 'dyp_1vZ8kQ0aB3xYpL9mWc2T' }),
          configurable_props: z
            .array(z.record(z.string(), z.unknown()))
            .describe('The props that the component asks for now.'),
        })
        .describe('What `additionalProps` has made.'),
    })
    .openapi('ReloadedProps'),
  handle: async ({ engine, who, id, input }) => {
    const made = await engine.componentProps.dynamicProps(who, id, formOf(input));
    return { dynamic_props: { id: made.id, configurable_props: made.configurableProps } };
  },
});
