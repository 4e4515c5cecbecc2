import type { ErrorCode } from '@headwater/shared';
import { exampleProblem, PROBLEM_CONTENT_TYPE } from '../problem.ts';

/** JSON Schema, as far as the generated document uses it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  example?: unknown;
  minimum?: number;
  minLength?: number;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface MediaType {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, unknown>;
}

interface Answer {
  content?: Record<string, MediaType>;
}

interface Operation {
  operationId?: string;
  requestBody?: Answer;
  responses: Record<string, Answer>;
}

export interface ExampledDocument {
  paths?: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema>; examples?: Record<string, { value: unknown }> };
}

const JSON_TYPE = 'application/json';
/** Deeper than any answer is; a schema that contains itself ends here. */
const MAX_DEPTH = 12;

/**
 * Gives each JSON body of the document an example made of its schema. `given` has the ones of
 * requests that a schema alone does not tell, by operation. Bodies of the same schema share one.
 */
export function addExamples(document: ExampledDocument, given: ReadonlyMap<string, unknown>): void {
  const shared: Record<string, { value: unknown }> = {};
  document.components = { ...document.components, examples: shared };
  const schemas = document.components.schemas ?? {};
  const share = (name: string, make: () => unknown) => {
    shared[name] ??= { value: make() };
    return { $ref: `#/components/examples/${name}` };
  };
  for (const operation of operationsOf(document)) {
    const { operationId = '', requestBody, responses } = operation;
    const request = requestBody?.content?.[JSON_TYPE];
    if (request?.schema !== undefined) {
      request.example = given.get(operationId) ?? exampleOf(request.schema, { schemas, isAnswer: false });
    }
    for (const [status, { content = {} }] of Object.entries(responses)) {
      const codes = Object.keys(content[PROBLEM_CONTENT_TYPE]?.examples ?? {}) as ErrorCode[];
      for (const code of codes) share(code, () => exampleProblem(code));
      const ofOperation = status === '202' ? `${operationId}Accepted` : operationId;
      addToAnswer(ofOperation, content[JSON_TYPE], (name, schema) =>
        share(name, () => exampleOf(schema, { schemas, isAnswer: true })),
      );
    }
  }
}

function operationsOf({ paths = {}, webhooks = {} }: ExampledDocument): Operation[] {
  return [...Object.values(paths), ...Object.values(webhooks)].flatMap((methods) => Object.values(methods));
}

function addToAnswer(
  operationId: string,
  media: MediaType | undefined,
  share: (name: string, schema: Schema) => { $ref: string },
): void {
  if (media?.schema === undefined) return;
  const { data, page_info: pageInfo } = media.schema.properties ?? {};
  const item = (pageInfo === undefined ? data : data?.items)?.$ref?.split('/').at(-1);
  const name = item === undefined ? operationId : `${item}${pageInfo === undefined ? '' : 'Page'}`;
  media.examples = { example: share(name, media.schema) };
}

interface Shown {
  schemas: Readonly<Record<string, Schema>>;
  /** An answer shows all its fields, a request those that it must have. */
  isAnswer: boolean;
  name?: string;
  depth?: number;
}

function exampleOf(schema: Schema, { schemas, isAnswer, name = '', depth = 0 }: Shown): unknown {
  const inner = (one: Schema, of = name) => exampleOf(one, { schemas, isAnswer, name: of, depth: depth + 1 });
  const said = schema.example ?? schema.const ?? schema.enum?.[0] ?? schema.default;
  if (said !== undefined) return said;
  if (schema.$ref !== undefined) return inner(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((one) => inner(one))) as unknown;
  const choice = (schema.oneOf ?? schema.anyOf)?.find(({ type }) => type !== 'null');
  if (choice !== undefined) return inner(choice);
  switch (typeOf(schema)) {
    case 'object': {
      const required = new Set(schema.required);
      const shown = Object.entries(schema.properties ?? {}).filter(
        ([key, one]) => isAnswer || required.has(key) || one.example !== undefined,
      );
      return Object.fromEntries(shown.map(([key, one]) => [key, inner(one, key)]));
    }
    case 'array':
      return depth > MAX_DEPTH || schema.items === undefined ? [] : [inner(schema.items, name.replace(/s$/, ''))];
    case 'integer':
    case 'number':
      return numberFor(name, schema.minimum ?? 1);
    case 'boolean':
      return false;
    case 'string':
      return textFor(name);
    default:
      return { order: { id: 42 } };
  }
}

function typeOf({ type }: Schema): string | undefined {
  return typeof type === 'object' ? type.find((one) => one !== 'null') : type;
}

function numberFor(name: string, least: number): number {
  if (/(?:^|_)(?:at|since|until)_ms$/.test(name) || name === 'ts') return 1_763_640_000_123;
  if (/(?:^|_)(?:at|since|until)$/.test(name)) return 1_763_640_000;
  if (name.startsWith('status')) return 200;
  return least;
}

/** The beginnings of ids, by the name of their field. */
const ID_PREFIXES: Readonly<Record<string, string>> = {
  account: 'o',
  component: 'sc',
  connected_account: 'apn',
  delivery: 'dlv',
  deployment: 'd',
  latest_deployment: 'd',
  emitter: 'dc',
  execution: 'exec',
  key: 'key',
  listener: 'wh',
  node: 'node',
  request: 'treq',
  source: 'dc',
  trace: 'inv',
  user: 'u',
  webhook: 'wh',
  workflow: 'p',
};

const TEXTS: Readonly<Record<string, string>> = {
  api_key: 'hw_0123456789abcdef0123456789abcdef',
  authorize_url: 'https://provider.example/authorize',
  code: 'export default { async run(event) { this.$emit(event); } };',
  code_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  component_code: 'export default { async run(event) { this.$emit(event); } };',
  cron: '0 9 * * 1',
  email: 'ada@example.com',
  event_id: '1763640000123-0',
  filter: '{"order.total":{"$gte":100}}',
  key: 'acme-new-orders',
  name: 'Orders',
  name_slug: 'orders',
  namespace: 'fetch_user',
  timezone: 'Europe/Berlin',
  token_url: 'https://provider.example/token',
  version: '0.1.0',
};

function textFor(name: string): string {
  const known = TEXTS[name];
  if (known !== undefined) return known;
  const prefix = name.endsWith('_id') ? ID_PREFIXES[name.slice(0, -3)] : undefined;
  if (prefix !== undefined) return `${prefix}_1vZ8kQ0aB3xYpL9mWc2T`;
  if (name === 'url' || name.endsWith('_url')) return 'https://example.com/hooks/orders';
  if (name === 'emit_id' || name === 'caused_by') return 'dc_1vZ8kQ0aB3xYpL9mWc2T-1763640000123-0';
  return name === '' ? 'text' : name.replaceAll('_', ' ');
}
