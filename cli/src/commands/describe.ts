import type { ApiClient } from '../api/client.ts';
import type { Component, Execution, Source, Webhook, Workflow } from '../api/resources.ts';
import { CliError } from '../cli-error.ts';
import type { Answer } from '../answer.ts';
import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import { findNamed } from '../names/find-named.ts';
import { type Kind, KINDS } from '../names/named-kinds.ts';
import { ofSeconds } from '../terminal/describe-time.ts';
import type { Output } from '../terminal/output.ts';
import { describePlaces } from './describe-source.ts';
import { findComponent } from './which-component.ts';

type Tagged<T> = T & { etag?: string };
type Field = readonly [string, string | null | undefined];

export const describe: CommandSpec = {
  path: 'describe',
  aliases: ['show'],
  summary: 'Everything about a source, workflow, webhook, component or execution',
  arguments: [
    {
      name: 'name',
      summary: 'By id or name; a component by id, key or `key@version`.',
      completes: { names: ['sources', 'workflows', 'webhooks', 'components'] },
    },
  ],
  examples: [
    { does: 'A source: its endpoint, props and state', command: 'hw describe orders' },
    { does: 'One execution of a workflow, step by step', command: 'hw describe exec_1vZ8kQ0aB3xYpL9mWc2T' },
    {
      does: 'The endpoint alone',
      command: "hw describe orders --json | jq -r '.configured_props[].endpoint_url // empty'",
    },
  ],
  json: 'the resource, as the REST API answers it, with the `etag` of that answer',
  exits: NAMING_EXITS,
  async run(context) {
    const api = await context.api();
    return describeAny(api, context.output, context.input.argument('name'));
  },
};

async function describeAny(api: ApiClient, output: Output, name: string): Promise<Answer> {
  if (name.startsWith('exec_')) return describeExecution(await api.get<Execution>(`/executions/${name}`), output);
  if (name.startsWith('sc_')) return describeComponent(await api.get<Component>(`/components/${name}`), output);
  let found: { kind: Kind; id: string };
  try {
    found = await findNamed(api, ['source', 'workflow', 'webhook'], name);
  } catch (error) {
    const component =
      error instanceof CliError && error.exit === 'notFound'
        ? await findComponent(api, ['components', 'components/registry'], name)
        : undefined;
    if (component === undefined) throw error;
    return describeComponent(component, output);
  }
  return describeNamed(api, output, found);
}

export async function describeNamed(
  api: ApiClient,
  output: Output,
  { kind, id }: { kind: Kind; id: string },
): Promise<Answer> {
  const path = `${KINDS[kind].path}/${id}`;
  if (kind === 'source') return describeSource(await api.tagged<Source>(path), output);
  if (kind === 'workflow') return describeWorkflow(await api.tagged<Workflow>(path), output);
  return describeWebhook(await api.tagged<Webhook>(path), output);
}

function describeSource(source: Tagged<Source>, output: Output): Answer {
  const fields: Field[] = [
    ['source', source.id],
    ['name', source.name],
    ['slug', source.name_slug],
    ['state', source.active ? 'active' : 'stopped'],
    ...describePlaces(source).map(([what, place]): Field => [what.toLowerCase(), place]),
    ['component', source.component_id],
    ['created', ofSeconds(source.created_at)],
    ['updated', ofSeconds(source.updated_at)],
    ['etag', source.etag],
    ['last event', ofSeconds(source.last_event_at)],
    ['last error', lastErrorOf(source)],
    ['props', propLines(source)],
  ];
  return { json: source, text: output.fields(fields) };
}

function lastErrorOf({ last_error: error }: Source): string | undefined {
  return error === null ? undefined : `${ofSeconds(error.at)} ${error.message ?? ''}`.trimEnd();
}

function propLines({ configured_props: props }: Source): string | undefined {
  const entries = Object.entries(props);
  return entries.length === 0
    ? undefined
    : entries.map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join('\n');
}

function describeWorkflow(workflow: Tagged<Workflow>, output: Output): Answer {
  const fields: Field[] = [
    ['workflow', workflow.id],
    ['name', workflow.name],
    ['slug', workflow.name_slug],
    ['state', workflow.active ? 'active' : 'stopped'],
    ['deployment', workflow.deployment_id],
    ['triggers', workflow.triggers.map(triggerLine).join('\n')],
    ['steps', workflow.steps.map(({ namespace, component_id: component }) => `${namespace}  ${component}`).join('\n')],
    ['settings', JSON.stringify(workflow.settings)],
    ['created', ofSeconds(workflow.created_at)],
    ['updated', ofSeconds(workflow.updated_at)],
    ['etag', workflow.etag],
  ];
  return { json: workflow, text: output.fields(fields) };
}

export function triggerLine({
  id,
  type,
  endpoint_url: url,
  source_id: source,
  ...rest
}: Workflow['triggers'][number]): string {
  return [
    id,
    type,
    url ?? source,
    ...Object.entries(rest)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}=${String(value)}`),
  ]
    .filter((part) => part !== undefined)
    .join('  ');
}

function describeWebhook(webhook: Tagged<Webhook>, output: Output): Answer {
  const fields: Field[] = [
    ['webhook', webhook.id],
    ['name', webhook.name],
    ['description', webhook.description],
    ['url', webhook.url],
    [
      'state',
      webhook.active
        ? 'active'
        : webhook.disabled_reason === null
          ? 'stopped'
          : `disabled (${webhook.disabled_reason})`,
    ],
    ['format', webhook.format],
    ['method', webhook.method],
    ['auth', webhook.auth?.type],
    ['transform', webhook.transform_id],
    ['secret', webhook.secret],
    ['public key', webhook.public_key],
    ['created', ofSeconds(webhook.created_at)],
    ['etag', webhook.etag],
  ];
  return { json: webhook, text: output.fields(fields) };
}

function describeComponent(component: Component, output: Output): Answer {
  const fields: Field[] = [
    ['component', component.id],
    ['key', component.key],
    ['version', component.version],
    ['type', component.type],
    ['name', component.name],
    ['description', component.description],
    ['state', component.published_at === null ? 'draft' : `published ${ofSeconds(component.published_at)}`],
    [
      'packages',
      Object.entries(component.dependencies)
        .map(([name, version]) => `${name}@${version}`)
        .join('\n') || undefined,
    ],
    ['props', component.configurable_props?.map(({ name, type }) => `${name}: ${type}`).join('\n') || undefined],
  ];
  return { json: component, text: output.fields(fields) };
}

function describeExecution(execution: Execution, output: Output): Answer {
  const { error } = execution;
  const steps = Object.entries(execution.steps ?? {}).flatMap(([namespace, step]) => [
    `${namespace}  ${step.status ?? ''}  ${cameTo(step)}`,
    ...Object.entries(step.props ?? {}).map(([name, value]) => `  ${name} = ${JSON.stringify(value)}`),
  ]);
  const fields: Field[] = [
    ['execution', execution.id],
    ['status', execution.status],
    ['reason', execution.reason],
    ['deployment', execution.deployment_id],
    ['trace', execution.trace_id],
    ['steps', steps.length === 0 ? undefined : steps.join('\n')],
    ['error', error ? `${error.code}: ${error.message}` : undefined],
  ];
  return { json: execution, text: output.fields(fields) };
}

/** The error of a step, or its `$summary` and its return value. */
function cameTo({ error, exports, $return_value: value }: NonNullable<Execution['steps']>[string]): string {
  if (error) return error.message;
  const { $summary: summary } = (exports ?? {}) as { $summary?: unknown };
  const texts = [typeof summary === 'string' ? summary : undefined, JSON.stringify(value)];
  return texts.filter((text) => text !== undefined).join('  ');
}
