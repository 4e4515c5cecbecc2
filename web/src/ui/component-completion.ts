import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';

/**
 * The context that the editor gives a source of completions; the package that names it comes with
 * the editor.
 */
interface CompletionContext {
  state: EditorState;
  pos: number;
  explicit: boolean;
  matchBefore(expression: RegExp): { from: number; to: number; text: string } | null;
}

interface Completion {
  label: string;
  type: 'method' | 'property' | 'constant' | 'keyword';
  detail?: string;
  info?: string;
}

interface CompletionResult {
  from: number;
  options: readonly Completion[];
  validFor: RegExp;
}

/** Each line: `name(parameters): description` for a method, or `name: description`. */
function members(text: string): Completion[] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [, label = '', detail = '', info = ''] = /^\s*([\w$.]+)(\(.*?\))?: (.*)$/.exec(line) ?? [];
      return { label, type: detail === '' ? 'property' : 'method', ...(detail === '' ? {} : { detail }), info };
    });
}

const EMIT = members(`
  $emit(event, { id, summary, ts, name }): Emits an event. With dedupe an id is required; name is the channel.
`);

/** By the type of a prop. */
const SERVICES: Record<string, readonly Completion[]> = {
  '$.service.db': members(`
    get(key): What was stored, undefined where nothing is.
    set(key, value): Stores JSON of at most 60 KB; undefined takes it away.`),
  '$.interface.http': members(`
    respond({ status, headers, body }): Answers the client, with customResponse: true.
    endpoint: The URL of this source.`),
  '$.interface.timer': members(`
    intervalSeconds: The interval, where there is one.
    cron: The cron expression, where there is one.
    timezone: Its time zone.`),
  data_store: members(`
    get(key): What was stored, undefined where nothing is. Asynchronous.
    set(key, value, { ttl }): Stores JSON; ttl in seconds.
    delete(key): False where there was nothing.
    has(key): Whether there is such a key.
    keys(): All keys.
    entries(): All keys with their values.
    clear(): Deletes all.`),
  http_request: members(`
    execute(): Sends the request; a status that is no 2xx is thrown.
    url: As it was entered.
    method: As it was entered.`),
  sql: members(`
    query: With a place for each of params.
    params: The values of the query.
    value: As it was entered.`),
};

const CONTEXT: Record<string, readonly Completion[]> = {
  $: members(`
    export(name, value): Makes steps.<step>.<name>; $summary is shown in the execution.
    respond({ status, headers, body, immediate }): Answers the request that started the workflow.
    flow: Ends, delays, suspends or repeats.
    send: Sends requests, e-mail, objects and events.
    context: Of this execution: id, ts, workflow_id, trace_id, run.`),
  '$.flow': members(`
    exit(reason): Ends the whole workflow; to be returned.
    suspend(ms): Waits for a request to resume_url, 24 hours where not given.
    delay(ms): Goes on after so many milliseconds.
    rerun(ms, context, maxRetries): Runs this step again.`),
  '$.send': members(`
    http({ method, url, data, headers }): Sends a request after the workflow has ended.
    email({ subject, text, html }): To the address of the account.
    s3({ bucket, prefix, payload }): Stores an object.
    emit(event, channel): Emits an event of the workflow.
    sse({ channel, payload }): To those who listen.`),
  '$.context': members(`
    id: Of the execution.
    ts: When it began, ISO 8601.
    workflow_id: Of the workflow.
    workflow_name: Of the workflow.
    deployment_id: Of the version.
    emitter_id: What started it; null where it was started by hand.
    trace_id: The same over retries and resumes.
    deadline: Epoch milliseconds at which it times out.
    replay: Whether it repeats another.
    JIT: Whether the step is being tested.
    run: runs, context and callback_request of a step that was run again.`),
};

const EVENT = members(`
  body: Parsed where it is JSON or a form, else text.
  bodyRaw: As it was sent.
  headers: Names in lower case.
  method: Upper case.
  path: What follows the endpoint.
  query: By name.
  rawQuery: Without the question mark.
  url: The whole URL.
  timestamp: Of a timer: epoch seconds.`);

const COMPONENT = members(`
  name: Shown in the account.
  key: Under which it is published.
  version: Any text; semver in the registry.
  description: Markdown.
  type: source or action.
  props: What is configured.
  dedupe: unique, greatest or last.
  hooks: deploy, activate and deactivate.
  methods: Called as this.<name>().
  additionalProps(): Further props, asked for when one with reloadProps is chosen.
  run(event): Runs on each event; of an action: run({ steps, $ }).`);

const PROP = members(`
  type: Its type, such as "string" or "$.interface.http".
  label: Shown at the field.
  description: Markdown.
  optional: Default false.
  default: Its first value.
  options: A list of choices, or async options({ page, prevContext, query }).
  secret: Sealed, and not shown again.
  min: Of a number.
  max: Of a number.
  reloadProps: A choice calls additionalProps.
  useQuery: options gets what is typed as query.
  withLabel: The value is { label, value }.
  hidden: Not shown.
  disabled: Shown, but not to be changed.
  customResponse: Of $.interface.http: the component answers.`);

const TYPES: readonly Completion[] = [
  ...['string', 'integer', 'number', 'boolean'].flatMap((type) => [type, `${type}[]`]),
  'object',
  'any',
  'alert',
  'data_store',
  'http_request',
  'sql',
  'dir',
  '$.interface.http',
  '$.interface.timer',
  '$.service.db',
].map((label) => ({ label, type: 'constant' }));

const STRATEGIES: readonly Completion[] = ['unique', 'greatest', 'last'].map((label) => ({ label, type: 'constant' }));

/**
 * Completes a component's environment: `this`, its props, `$`, the event, `steps` of earlier steps,
 * and the fields of the component itself.
 */
export function completeComponent(steps: () => readonly string[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const text = context.matchBefore(/type\s*:\s*["'][\w.$[\]]*/);
    if (text !== null) return result(context, /[\w.$[\]]*$/, TYPES);
    if (context.matchBefore(/dedupe\s*:\s*["']\w*/) !== null) return result(context, /\w*$/, STRATEGIES);
    const path = context.matchBefore(/[\w$.?]*$/)?.text.replaceAll('?', '') ?? '';
    if (path.includes('.')) return completePath(context, path, steps());
    if (path === '' && !context.explicit) return null;
    const fields = fieldsAt(context.state, context.pos);
    return fields === undefined ? null : result(context, /[\w$]*$/, fields);
  };
}

function completePath(context: CompletionContext, path: string, steps: readonly string[]): CompletionResult | null {
  const owner = path.slice(0, path.lastIndexOf('.'));
  const options = membersOf(owner, context.state, steps);
  return options === undefined ? null : result(context, /[\w$]*$/, options);
}

function membersOf(owner: string, state: EditorState, steps: readonly string[]): readonly Completion[] | undefined {
  if (owner in CONTEXT) return CONTEXT[owner];
  if (owner === 'event' || owner === 'steps.trigger.event') return EVENT;
  if (owner === 'steps.trigger') return members('event: What started the execution.\ncontext: Its id, ts and origin.');
  if (owner === 'steps') {
    return ['trigger', ...steps].map((label) => ({ label, type: 'property' }));
  }
  if (steps.some((name) => owner === `steps.${name}`)) {
    return members('$return_value: What the step returned.\n$error: Why it failed, where the workflow went on.');
  }
  if (owner !== 'this' && !owner.startsWith('this.')) return undefined;
  const props = propsOf(state);
  if (owner !== 'this') return SERVICES[props.find(({ name }) => `this.${name}` === owner)?.type ?? ''];
  return [...EMIT, ...props.map(({ name, type }) => ({ label: name, type: 'property' as const, detail: ` ${type}` }))];
}

function result(context: CompletionContext, expression: RegExp, options: readonly Completion[]): CompletionResult {
  const from = context.matchBefore(expression)?.from ?? context.pos;
  return { from, options, validFor: /^[\w.$[\]]*$/ };
}

type Node = ReturnType<typeof syntaxTree>['topNode'];

const nameOf = (state: EditorState, property: Node) => {
  const name = property.firstChild;
  return name === null ? '' : state.sliceDoc(name.from, name.to).replaceAll(/["']/g, '');
};

/** Names and types of the props that the code declares, short ones as well. */
function propsOf(state: EditorState): { name: string; type: string }[] {
  const found: { name: string; type: string }[] = [];
  syntaxTree(state).iterate({
    enter({ node }) {
      if (node.name !== 'Property' || pathTo(state, node.parent) !== 'props') return;
      const type = /type\s*:\s*["']([^"']*)|^[^:]*:\s*["']([^"']*)/.exec(state.sliceDoc(node.from, node.to));
      found.push({ name: nameOf(state, node), type: type?.[1] ?? type?.[2] ?? 'any' });
    },
  });
  return found;
}

/**
 * For an object: the names of the properties that lead to it, such as `props.city`; '' for the
 * outermost one.
 */
function pathTo(state: EditorState, object: Node | null): string | undefined {
  if (object?.name !== 'ObjectExpression') return undefined;
  const { parent } = object;
  if (parent?.name !== 'Property') return isComponent(state, parent) ? '' : undefined;
  const outer = pathTo(state, parent.parent);
  return outer === undefined ? undefined : [outer, nameOf(state, parent)].filter((part) => part !== '').join('.');
}

/** The frame of the outermost object: `export default { … }`, or `defineSource({ … })`. */
function isComponent(state: EditorState, holder: Node | null): boolean {
  if (holder?.name === 'ExportDeclaration') return true;
  const call = holder?.name === 'ArgList' ? holder.parent : null;
  return call !== null && call !== undefined && state.sliceDoc(call.from, call.from + 6) === 'define';
}

/** A name that stands for a field of the component or of a prop. */
function fieldsAt(state: EditorState, pos: number): readonly Completion[] | undefined {
  let node: Node | null = syntaxTree(state).resolveInner(pos, -1);
  // The name that is being written is a property already; its value is none of these.
  if (node.name === 'PropertyDefinition' || node.name === '⚠') node = node.parent;
  if (node?.name === 'Property') node = node.parent;
  if (node?.name !== 'ObjectExpression') return undefined;
  const path = pathTo(state, node);
  if (path === '') return COMPONENT;
  return path !== undefined && /^props\.[^.]+$/.test(path) ? PROP : undefined;
}
