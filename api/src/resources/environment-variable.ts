import type { EnvironmentVariable } from '@headwater/engine';
import type { environmentVariableSchema, Shown } from '@headwater/shared/contract';
import { epochSeconds } from './time.ts';

export function presentEnvironmentVariable(variable: EnvironmentVariable): Shown<typeof environmentVariableSchema> {
  return {
    name: variable.name,
    description: variable.description ?? null,
    created_at: epochSeconds(variable.createdAt),
    updated_at: epochSeconds(variable.updatedAt),
  };
}
