import { z } from '@hono/zod-openapi';
import type { ComponentRecord } from '@headwater/engine';
import { epochSeconds, secondsField } from './time.ts';

export const componentSchema = z
  .object({
    id: z.string().openapi({ example: 'sc_1vZ8kQ0aB3xYpL9mWc2T' }),
    name: z.string(),
    key: z.string().nullable(),
    version: z.string(),
    type: z.enum(['source', 'action']),
    description: z.string().nullable(),
    code: z.string(),
    code_hash: z.string(),
    dedupe: z.enum(['unique', 'greatest', 'last']).nullable(),
    configurable_props: z.array(z.record(z.string(), z.unknown())).openapi({
      description: 'The props as the component defines them, each with its `name`; functions are left out.',
    }),
    dependencies: z.record(z.string(), z.string()).openapi({
      description: 'The packages that the code imports, with the versions that were bundled.',
      example: { lodash: '4.17.21' },
    }),
    created_at: secondsField('When the component was saved.'),
    updated_at: secondsField('When it last changed.'),
  })
  .openapi('Component');

export function presentComponent(component: ComponentRecord): z.output<typeof componentSchema> {
  return {
    id: component.id,
    name: component.name,
    key: component.key ?? null,
    version: component.version,
    type: component.type,
    description: component.description ?? null,
    code: component.code,
    code_hash: component.codeHash,
    dedupe: component.dedupe ?? null,
    configurable_props: component.configurableProps,
    dependencies: component.dependencies,
    created_at: epochSeconds(component.createdAt),
    updated_at: epochSeconds(component.updatedAt),
  };
}
