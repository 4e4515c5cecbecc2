import { z } from '@hono/zod-openapi';
import type { EnvironmentVariable } from '@headwater/engine';
import { epochSeconds, secondsField } from './time.ts';

export const environmentVariableSchema = z
  .object({
    name: z.string().describe('Its name, as in `process.env.NAME`.'),
    description: z.string().nullable().describe('What it is for. Null: nothing is said.'),
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
