import { z } from '@hono/zod-openapi';
import type { StackResource } from '@headwater/engine';
import { LIMITS, platformLimit } from '@headwater/shared';
import { STACK_RESOURCE_KINDS, stackSchema } from '@headwater/shared/contract';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { mayReadSecrets } from '../key-scope.ts';
import { given, pageOf } from '../parameters/given.ts';
import { pageParameters, textParameter } from '../parameters/schemas.ts';
import { mapPage, pageWithin } from '../resources/page.ts';
import { presentStack } from '../resources/stack.ts';

const tag = 'Stacks';
const path = '/v1/stacks/{id}';
const pathId = 'The name of the stack: letters, digits, `-`, `_` and `.`.';

const resourceParameter = z.object({
  kind: z.enum(STACK_RESOURCE_KINDS).openapi({ description: 'What it is.' }),
  key: textParameter('maxNameChars', 1).openapi({ description: 'Its name in the folder.' }),
  id: textParameter('maxIdChars', 1).openapi({ description: 'Its id; of an environment variable its name.' }),
  secrets: textParameter('maxIdChars').optional().openapi({ description: 'A fingerprint, to be compared later.' }),
});

const atMost = (name: 'maxStackResources' | 'maxStackHoldSeconds', used: number, context: z.RefinementCtx) => {
  const limit = platformLimit(name, used);
  if (limit.used <= limit.value) return;
  context.addIssue({ code: 'custom', message: `may be at most ${limit.value}`, params: { limit } });
};

const resourcesParameter = z
  .array(resourceParameter)
  .superRefine((resources, context) => atMost('maxStackResources', resources.length, context))
  .openapi({ maxItems: LIMITS.maxStackResources, description: 'All of them. Default: those of before.' });

const holdParameter = z
  .int()
  .min(0)
  .superRefine((seconds, context) => atMost('maxStackHoldSeconds', seconds, context))
  .openapi({
    maximum: LIMITS.maxStackHoldSeconds,
    description: 'For how long only this holder may change it. 0, the default: it is let go.',
  });

export function stackEndpoints(): Endpoint[] {
  return [listStacks, getStack, putStack, deleteStack];
}

const listStacks = listEndpoint({
  method: 'get',
  path: '/v1/stacks',
  name: 'listStacks',
  tag,
  summary: 'The stacks of the account, by name',
  description: 'One for each name of a folder that `hw apply` was used with, and what it has made.',
  parameters: z.object(pageParameters),
  schema: stackSchema,
  handle: async ({ engine, who, input }) => {
    const page = pageWithin(await engine.stacks.list(who), ({ name }) => name, pageOf(input));
    return mapPage(page, (stack) => presentStack(stack, mayReadSecrets(who)));
  },
});

const getStack = itemEndpoint({
  method: 'get',
  path,
  name: 'getStack',
  tag,
  summary: 'What was made from a folder',
  description: 'Its resources may have been changed or deleted since by others.',
  pathId,
  parameters: z.object({}),
  schema: stackSchema,
  handle: async ({ engine, who, id }) => presentStack(await engine.stacks.get(who, id), mayReadSecrets(who)),
});

const putStack = itemEndpoint({
  method: 'put',
  path,
  name: 'putStack',
  tag,
  summary: 'Note what was made from a folder, and hold the stack meanwhile',
  description:
    'As `hw apply` does it: one holder at a time. Answers 409 while another one holds it. The resources themselves are neither changed nor checked.',
  pathId,
  parameters: z.object({
    resources: resourcesParameter.optional(),
    holder: textParameter('maxIdChars', 1).openapi({ description: 'Any text that no other holder has.' }),
    hold_seconds: holdParameter.default(0),
  }),
  schema: stackSchema,
  handle: async ({ engine, who, id, input: { resources, holder, hold_seconds: holdSeconds } }) => {
    const kept = resources?.map((one): StackResource => given(one) as StackResource);
    const stack = await engine.stacks.put(who, id, { resources: kept, holder, holdSeconds });
    return presentStack(stack, mayReadSecrets(who));
  },
});

const deleteStack = emptyEndpoint({
  method: 'delete',
  path,
  name: 'deleteStack',
  tag,
  summary: 'Forget what was made from a folder',
  description: 'The resources stay, and no folder owns them.',
  pathId,
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who, id }) => engine.stacks.delete(who, id),
});
