import { z } from 'zod';
import { COMPONENT_TYPES } from '../component.ts';
import { secondsField } from './fields.ts';

const summaryFields = {
  id: z.string().meta({ description: 'The id of the saved component.', example: 'sc_1vZ8kQ0aB3xYpL9mWc2T' }),
  name: z.string().describe('The name that its code gives.'),
  key: z.string().nullable().describe('The key that its code gives. Null: none.'),
  version: z.string().describe('The version that its code gives.'),
  type: z
    .enum(COMPONENT_TYPES)
    .describe(
      '`source`: it emits events. `action`: a step of workflows. `transform`: it changes requests of webhooks.',
    ),
  description: z.string().nullable().describe('What its code says about it. Null: nothing.'),
  code_hash: z.string().describe('SHA-256 of the code, in hex.'),
  code_url: z.string().nullable().meta({ description: 'Where the code came from, or what was said about it.' }),
  dedupe: z
    .enum(['unique', 'greatest', 'last'])
    .nullable()
    .describe('How its events are told apart. Null: all are kept.'),
  has_additional_props: z.boolean().meta({
    description: 'It computes further props from what is configured: `POST /v1/components/{id}/props`.',
  }),
  dependencies: z.record(z.string(), z.string()).meta({
    description: 'The packages that the code imports, with the versions that were bundled.',
    example: { lodash: '4.17.21' },
  }),
  published_at: secondsField('When this version was published; null for a draft.').nullable(),
  created_at: secondsField('When the component was saved.'),
  updated_at: secondsField('When it last changed.'),
};

const codeFields = {
  code: z.string().describe('The source text, as it was saved.'),
  configurable_props: z.array(z.record(z.string(), z.unknown())).meta({
    description: 'The props as the component defines them, each with its `name`; functions are left out.',
  }),
};

const registryFields = {
  app: z.string().nullable().meta({ description: 'The app that the key begins with, where the component uses it.' }),
};

export const componentSummarySchema = z.object(summaryFields).meta({ id: 'ComponentSummary' });

export const componentSchema = z.object({ ...summaryFields, ...codeFields }).meta({ id: 'Component' });

export const registrySummarySchema = z
  .object({ ...summaryFields, ...registryFields })
  .meta({ id: 'RegistryComponentSummary' });

export const registryComponentSchema = z
  .object({
    ...summaryFields,
    ...codeFields,
    ...registryFields,
    versions: z.array(z.string()).meta({ description: 'All that can be had of the key, the newest first.' }),
  })
  .meta({ id: 'RegistryComponent' });
