import { z } from 'zod';
import { secondsField } from './fields.ts';

export const environmentVariableSchema = z
  .object({
    name: z.string().describe('Its name, as in `process.env.NAME`.'),
    description: z.string().nullable().describe('What it is for. Null: nothing is said.'),
    created_at: secondsField('When it was made.'),
    updated_at: secondsField('When it was last set.'),
  })
  .meta({ id: 'EnvironmentVariable', description: 'Its value is never shown.' });
