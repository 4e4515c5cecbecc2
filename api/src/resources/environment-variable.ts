import { z } from '@hono/zod-openapi';
import type { EnvironmentVariable } from '@headwater/engine';
import { epochSeconds, secondsField } from './time.ts';

export const environmentVariableSchema = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    created_at: secondsField('When it was made.'),
    updated_at: secondsField('When it was last set.'),
  })
  .openapi('EnvironmentVariable', { description: 'Its value is never shown.' });

export function presentEnvironmentVariable(variable: EnvironmentVariable): z.output<typeof environmentVariableSchema> {
  return {
    name: variable.name,
    description: variable.description ?? null,
    created_at: epochSeconds(variable.createdAt),
    updated_at: epochSeconds(variable.updatedAt),
  };
}
