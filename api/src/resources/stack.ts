import type { StackRecord } from '@headwater/engine';
import type { Shown, stackSchema } from '@headwater/shared/contract';
import { epochSeconds } from './time.ts';

export function presentStack(stack: StackRecord, withSecrets: boolean): Shown<typeof stackSchema> {
  return {
    name: stack.name,
    resources: stack.resources.map(({ kind, key, id, secrets }) => ({
      kind,
      key,
      id,
      ...(secrets === undefined || !withSecrets ? {} : { secrets }),
    })),
    held_until: stack.heldUntil === undefined ? null : epochSeconds(stack.heldUntil),
    created_at: epochSeconds(stack.createdAt),
    updated_at: epochSeconds(stack.updatedAt),
  };
}
