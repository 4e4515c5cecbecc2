import { z } from '@hono/zod-openapi';
import type { Engine, Page, Principal, SourcePageRequest } from '@headwater/engine';
import { notFound } from '@headwater/shared';
import {
  sourceSchema,
  subscriptionSchema,
  webhookSummarySchema,
  workflowSummarySchema,
} from '@headwater/shared/contract';
import { type Endpoint, listEndpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { idParameter, pageParameters, textParameter } from '../parameters/schemas.ts';
import { mapPage } from '../resources/page.ts';
import { presentSource } from '../resources/source.ts';
import { presentSubscription } from '../resources/subscription.ts';
import { presentWebhookSummary } from '../resources/webhook.ts';
import { presentWorkflowSummary } from '../resources/workflow.ts';

interface Listing {
  noun: 'sources' | 'workflows' | 'webhooks' | 'subscriptions';
  tag: string;
  about: string;
  schema: z.ZodObject;
  /** The texts beside the id that `q` is looked for in. Absent: the list takes no `q`. */
  named?: string;
  /** The list takes `owner`. Default false. */
  isOwned?: boolean;
  list(engine: Engine, who: Principal, page: SourcePageRequest): Promise<Page<Record<string, unknown>>>;
}

interface Place {
  prefix: string;
  suffix: string;
  /** Describes `{id}`; absent if the path has none. */
  pathId?: string;
  what?: string;
}

const listings: Listing[] = [
  {
    noun: 'sources',
    tag: 'Sources',
    about: 'With their props, without secret values.',
    schema: sourceSchema,
    named: 'name',
    isOwned: true,
    list: async (engine, who, page) => mapPage(await engine.sources.list(who, page), presentSource),
  },
  {
    noun: 'workflows',
    tag: 'Workflows',
    about: 'Without their steps, which `GET /v1/workflows/{id}` has.',
    schema: workflowSummarySchema,
    named: 'name',
    list: async (engine, who, page) => mapPage(await engine.workflows.list(who, page), presentWorkflowSummary),
  },
  {
    noun: 'webhooks',
    tag: 'Webhooks',
    about: 'Without secrets, own headers and certificates.',
    schema: webhookSummarySchema,
    named: 'name, the URL',
    list: async (engine, who, page) => mapPage(await engine.webhooks.list(who, page), presentWebhookSummary),
  },
  {
    noun: 'subscriptions',
    tag: 'Subscriptions',
    about: 'What listens to which source or workflow.',
    schema: subscriptionSchema,
    list: async (engine, who, page) => mapPage(await engine.subscriptions.list(who, page), presentSubscription),
  },
];

const pathId = 'The id of the account (`o_…`), which is the one of the key.';

const places: Place[] = [
  { prefix: '/v1', suffix: '' },
  { prefix: '/v1/users/me', suffix: 'OfUser' },
  { prefix: '/v1/workspaces/{id}', suffix: 'OfWorkspace', pathId, what: 'workspace' },
  { prefix: '/v1/orgs/{id}', suffix: 'OfOrg', pathId, what: 'org' },
];

/** The same lists in every place where people look for them. */
export function listEndpoints(): Endpoint[] {
  return places.flatMap((place) => listings.map((listing) => listAt(place, listing)));
}

function nameParameter({ named }: Listing): { q?: z.ZodOptional<z.ZodString> } {
  if (named === undefined) return {};
  const description = `Only those that have this text in the ${named} or the id, in upper or lower case.`;
  return { q: textParameter('maxNameChars').optional().openapi({ description }) };
}

function ownerParameter({ isOwned = false }: Listing): { owner?: z.ZodOptional<z.ZodString> } {
  if (!isOwned) return {};
  const description = 'Only those that this user has made: a `user_id`, or `me` for the user of the key or session.';
  return { owner: idParameter(description).optional() };
}

const ownerOf = (input: { owner?: unknown }, who: Principal) =>
  typeof input.owner === 'string' ? (input.owner === 'me' ? who.userId : input.owner) : undefined;

const queryOf = (input: { q?: unknown }) => (typeof input.q === 'string' && input.q !== '' ? input.q : undefined);

function listAt(place: Place, listing: Listing): Endpoint {
  return listEndpoint({
    method: 'get',
    path: `${place.prefix}/${listing.noun}`,
    name: `list${listing.tag}${place.suffix}`,
    tag: listing.tag,
    summary: `The ${listing.noun} of the account, newest first`,
    description: `${listing.about} The same list is at \`/v1/${listing.noun}\`, and under \`/v1/users/me\`, \`/v1/workspaces/{id}\` and \`/v1/orgs/{id}\`.`,
    ...(place.pathId === undefined ? {} : { pathId: place.pathId }),
    parameters: z.object({ ...nameParameter(listing), ...ownerParameter(listing), ...pageParameters }),
    schema: listing.schema,
    handle: async ({ engine, who, id, input }) => {
      if (place.what !== undefined && id !== who.accountId) throw notFound(place.what, id);
      const filter = given({ query: queryOf(input), userId: ownerOf(input, who) });
      return listing.list(engine, who, { ...pageOf(input), ...filter });
    },
  });
}
