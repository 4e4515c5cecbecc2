import { z } from 'zod';

/** A limit that a run or a request went over. */
export const exceededLimitSchema = z.object({
  name: z.string().meta({
    description:
      'A limit of the account or of the platform, or `sandboxMemoryMb`: what the node gives a sandbox process.',
  }),
  value: z.number().describe('What the limit allows.'),
  used: z.number().meta({ description: 'What was used or asked for, at least.' }),
});

export const logLimitSchema = exceededLimitSchema
  .extend({ name: z.enum(['maxLogLinesPerRun', 'maxLogLineBytes']).describe('The limit.') })
  .meta({
    description:
      'The line is not whole (`maxLogLineBytes`; `used` are the bytes it had, at least), or stands for those that were dropped (`maxLogLinesPerRun`).',
  });
