import type { z } from '@hono/zod-openapi';
import type { Shown } from '@headwater/shared/contract';
import type {
  CallerTrace,
  Condition,
  Engine,
  ExpectedRevisions,
  Page,
  Principal,
  RateLimitState,
} from '@headwater/engine';
import type { MessageSource } from './event-stream.ts';
import type { ExportedList } from './export-lines.ts';
import { fieldParameters } from './parameters/schemas.ts';
import type { CountChars } from './query-turns.ts';

/**
 * Arguments of a handler: the caller, `{id}` of the path ('' if it has none), checked parameters.
 */
export interface EndpointRequest<S extends z.ZodObject> {
  engine: Engine;
  who: Principal;
  id: string;
  input: z.output<S>;
  /** The trace of the request. */
  caller?: CallerTrace | undefined;
  /** Last id that a reconnecting EventSource sends. */
  lastEventId?: string | undefined;
  /** Revisions that the header `if-match` of a change names. */
  expected?: ExpectedRevisions;
  /** The same of a resource that is told by the tag of its content. */
  condition?: Condition | undefined;
  /** To be told of what was read and is not in the answer, where that may be much. */
  count: CountChars;
  /** The key that the caller has proved itself with. Absent where a change is only described. */
  apiKey?: string;
  /** To show the rate limit that the request was counted by, in headers. */
  showRateLimit?: (state: RateLimitState) => void;
}

type AdminRequest<S extends z.ZodObject> = Omit<EndpointRequest<S>, 'who'>;

export type Reply =
  /** `runId`: of what it has started. */
  | { kind: 'item'; data: object; runId?: string | undefined; revision?: number | string }
  | { kind: 'list'; page: Page<object> }
  | { kind: 'none'; status: 202 | 204 }
  | { kind: 'messages'; messages: MessageSource };

type Method = 'get' | 'post' | 'put' | 'delete';

interface Description {
  method: Method;
  /** `/v1/sources/{id}` */
  path: string;
  /** Unique; what generated clients call the operation. */
  name: string;
  tag: string;
  summary: string;
  description: string;
  /** A request of it, for the document. Default: what its schema requires. */
  example?: Record<string, unknown>;
  /** The path of the update whose parameters it takes. */
  changesLike?: string;
  /** Describes `{id}` in the path. */
  pathId?: string;
  /** The resource has revisions, told in `etag`. A change may name one in `if-match`. */
  isVersioned?: true;
  /** It makes the resource where there is none: `if-none-match: *` asks that there is none. */
  mayCreate?: true;
  /**
   * It asks the database and little else, and may ask much of it, so requests of an account take
   * turns. False for what waits for a tenant's code, for a server outside, or to be stored together
   * with others, and for what has turns of its own as it takes long. Default: true.
   */
  takesTurn?: boolean | ((input: Record<string, unknown>) => boolean);
  /** It answers figures. Unknown parameters are refused, as by lists. */
  isCounted?: true;
  /** All of the list is answered as NDJSON to clients that accept it. Default: it is not. */
  exported?: ExportedList;
  /** A browser opens it with a token of `POST /v1/streams/token`, as it cannot send a key. */
  takesStreamToken?: true;
  /** Its requests are counted by `maxRequestsPerSecond`: answers show what is left. */
  isRateLimited?: true;
}

/**
 * One endpoint of the REST API: described, validated and handled in one place. Everything the
 * OpenAPI document says about it comes from the same schemas that check it.
 */
export interface Endpoint extends Description {
  /** `either`: its handler sees no tenant where the operator asks. */
  access: 'key' | 'admin' | 'either';
  /** Parameters, from the query string and (except for GET) from the body. */
  parameters: z.ZodObject;
  /**
   * The handler judges names that `parameters` does not have. Default: the read of a single thing
   * ignores them, all else refuses them.
   */
  takesAnyName?: boolean;
  /** Schema of one item; absent if the answer has no body. */
  schema?: z.ZodType;
  success: { status: 200 | 202 | 204; list: boolean; messages?: true };
  handle(request: EndpointRequest<z.ZodObject>): Promise<Reply>;
}

type Handler<S extends z.ZodObject, Answer> = (request: EndpointRequest<S>) => Promise<Answer>;

/** Answers `{ data: item }`. */
export function itemEndpoint<S extends z.ZodObject, Item extends z.ZodType<object, object>>(
  definition: Description & {
    parameters: S;
    schema: Item;
    handle: Handler<S, Shown<Item>>;
    /** The run that it has started, for the header `x-headwater-run`. */
    runIdOf?: (item: Shown<Item>) => string;
  },
): Endpoint {
  const { handle, runIdOf } = definition;
  return {
    ...definition,
    access: 'key',
    parameters: definition.parameters.extend(fieldParameters),
    success: { status: 200, list: false },
    async handle(request) {
      const data = await handle(request as EndpointRequest<S>);
      return { kind: 'item', data, runId: runIdOf?.(data) };
    },
  };
}

/** Answers `{ data: item }`, with its revision as `etag`. */
export function versionedEndpoint<S extends z.ZodObject, Item extends z.ZodType<object, object>>(
  definition: Description & {
    parameters: S;
    schema: Item;
    handle: Handler<S, { item: Shown<Item>; revision: number | string }>;
  },
): Endpoint {
  const { handle } = definition;
  return {
    ...definition,
    access: 'key',
    isVersioned: true,
    parameters: definition.parameters.extend(fieldParameters),
    success: { status: 200, list: false },
    async handle(request) {
      const { item, revision } = await handle(request as EndpointRequest<S>);
      return { kind: 'item', data: item, revision };
    },
  };
}

/** Answers `{ data: [items], page_info }`. */
export function listEndpoint<S extends z.ZodObject, Item extends z.ZodType<object, object>>(
  definition: Description & { parameters: S; schema: Item; handle: Handler<S, Page<Shown<Item>>> },
): Endpoint {
  const { handle } = definition;
  return {
    ...definition,
    access: 'key',
    parameters: definition.parameters.extend(fieldParameters),
    success: { status: 200, list: true },
    handle: async (request) => ({ kind: 'list', page: await handle(request as EndpointRequest<S>) }),
  };
}

/** Answers server-sent events, of which each has `schema` as JSON in its data. */
export function messagesEndpoint<S extends z.ZodObject>(
  definition: Description & { parameters: S; schema: z.ZodObject; open: Handler<S, MessageSource> },
): Endpoint {
  const { open } = definition;
  return {
    ...definition,
    access: 'key',
    success: { status: 200, list: false, messages: true },
    handle: async (request) => ({ kind: 'messages', messages: await open(request as EndpointRequest<S>) }),
  };
}

/** Answers without a body. */
export function emptyEndpoint<S extends z.ZodObject>(
  definition: Description & { parameters: S; status: 202 | 204; handle: Handler<S, void> },
): Endpoint {
  const { handle, status } = definition;
  return {
    ...definition,
    access: 'key',
    success: { status, list: false },
    handle: async (request) => {
      await handle(request as EndpointRequest<S>);
      return { kind: 'none', status };
    },
  };
}

/** Answers `{ data: item }` to the operator's key only. Its handler never sees a tenant. */
export function adminEndpoint<S extends z.ZodObject, Item extends z.ZodType<object, object>>(
  definition: Description & {
    parameters: S;
    takesAnyName?: boolean;
    schema: Item;
    handle: (request: AdminRequest<S>) => Promise<Shown<Item>>;
  },
): Endpoint {
  return { ...itemEndpoint(definition), access: 'admin' };
}

/** The same with the revision of the item as `etag`. */
export function versionedAdminEndpoint<S extends z.ZodObject, Item extends z.ZodType<object, object>>(
  definition: Description & {
    parameters: S;
    takesAnyName?: boolean;
    schema: Item;
    handle: (request: AdminRequest<S>) => Promise<{ item: Shown<Item>; revision: number | string }>;
  },
): Endpoint {
  return { ...versionedEndpoint(definition), access: 'admin' };
}

/**
 * Answers `{ data: item }` to the key of an account, and to that of the operator, for whom there is
 * no `who`.
 */
export function eitherEndpoint<S extends z.ZodObject, Item extends z.ZodType<object, object>>(
  definition: Description & {
    parameters: S;
    schema: Item;
    handle: (request: AdminRequest<S> & { who: Principal | undefined }) => Promise<Shown<Item>>;
  },
): Endpoint {
  const { handle } = definition;
  const item = itemEndpoint<S, Item>({
    ...definition,
    handle: (request) => handle({ ...request, who: request.who.accountId === '' ? undefined : request.who }),
  });
  return { ...item, access: 'either' };
}

/** Answers `{ data: [items], page_info }` to the operator's key only. */
export function adminListEndpoint<S extends z.ZodObject, Item extends z.ZodType<object, object>>(
  definition: Description & {
    parameters: S;
    schema: Item;
    handle: (request: AdminRequest<S>) => Promise<Page<Shown<Item>>>;
  },
): Endpoint {
  return { ...listEndpoint(definition), access: 'admin' };
}

/**
 * Answers `{ data: [items], page_info }` to the key of an account, and to that of the operator, as
 * above.
 */
export function eitherListEndpoint<S extends z.ZodObject, Item extends z.ZodType<object, object>>(
  definition: Description & {
    parameters: S;
    schema: Item;
    handle: (request: AdminRequest<S> & { who: Principal | undefined }) => Promise<Page<Shown<Item>>>;
  },
): Endpoint {
  const { handle } = definition;
  const list = listEndpoint<S, Item>({
    ...definition,
    handle: (request) => handle({ ...request, who: request.who.accountId === '' ? undefined : request.who }),
  });
  return { ...list, access: 'either' };
}
