import {
  createGiveWay,
  type ExceededLimit,
  type FieldError,
  HeadwaterError,
  newId,
  type PropDefinition,
} from '@headwater/shared';
import { chooseComponent, namesComponent } from '../components/index.ts';
import type { ComponentChoice, ComponentRecord, Components, Principal, StepInputRecord } from '../contract/index.ts';
import {
  type DecideContext,
  type DecidedProps,
  decideProps,
  invalidProps,
  mergeDefinitions,
  type PropsBefore,
} from '../props/index.ts';
import { lockEnvironmentVariables } from '../environment/index.ts';
import type { Step } from './deployment.ts';
import {
  expressionBudget,
  type ExpressionBudget,
  findExpressionProblem,
  MAX_SHOWN_KEY_CHARS,
} from './expressions/check-value.ts';
import { measureVersion, type VersionSize } from './version-size.ts';

export interface StepContext extends DecideContext {
  components: Pick<Components, 'save' | 'obtain'>;
}

interface Planning {
  context: StepContext;
  who: Principal;
  inputs: readonly StepInputRecord[];
  before: readonly Step[];
  budget: ExpressionBudget;
  variables: VariableUse[];
  /** The same code in several steps is saved once. */
  saved: Map<string, Promise<ComponentRecord>>;
  size: VersionSize;
  giveWay: () => Promise<void>;
}

/**
 * Use of an environment variable. `keys`: the path from the step, such as `['props', 'headers']`.
 * They are joined only when shown: one key may have 50 000 characters, and an expression under it a
 * thousand variables.
 */
interface VariableUse {
  name: string;
  namespace: string;
  step: number;
  keys: readonly string[];
}

/** Errors that are shown of variables that are missing. */
const MAX_SHOWN_USES = 100;

interface ChosenStep {
  input: StepInputRecord;
  old: Step | undefined;
  component: ComponentRecord;
}

/**
 * Plans the steps of a new version: saves or finds their components, checks and seals their props,
 * and checks their expressions. Throws INVALID_PROPS with all faults of all props, each with the
 * path of its step. Throws the error of the first faulty component. Throws INVALID_REQUEST, with
 * the limit, if the steps are too large together.
 */
export async function planSteps(
  context: StepContext,
  who: Principal,
  inputs: readonly StepInputRecord[],
  before: readonly Step[],
): Promise<Step[]> {
  const giveWay = createGiveWay();
  const planning: Planning = {
    context,
    who,
    inputs,
    before,
    budget: expressionBudget(),
    variables: [],
    saved: new Map(),
    size: measureVersion(giveWay),
    giveWay,
  };
  const chosen: ChosenStep[] = [];
  for (const [i, input] of inputs.entries()) {
    const old = oldStep(planning, input);
    const component = await inStep(input, i, async () => {
      const found = await choose(planning, input, old);
      // Counts the definitions of all steps before any default is used: a request of some kilobytes
      // may name the same megabyte a hundred times.
      await planning.size.addDefinitions(found);
      return found;
    });
    chosen.push({ input, old, component });
  }
  const steps: Step[] = [];
  const errors: FieldError[] = [];
  let limit: ExceededLimit | undefined;
  for (const [i, step] of chosen.entries()) {
    await planning.giveWay();
    try {
      steps.push(await inStep(step.input, i, () => planStep(planning, step, i)));
    } catch (error) {
      if (!(error instanceof HeadwaterError) || error.code !== 'INVALID_PROPS') throw error;
      limit ??= error.limit;
      errors.push(...error.fields);
    }
  }
  if (errors.length > 0) throw invalidProps(errors, limit === undefined ? {} : { limit });
  await requireVariables(context, who, planning.variables);
  return steps;
}

/**
 * The step that is there already: by its id, or else by its namespace, unless that is one that
 * another input names by id.
 */
function oldStep({ inputs, before }: Planning, { id, namespace }: StepInputRecord): Step | undefined {
  const byId = before.find((step) => step.id === id);
  if (byId !== undefined) return byId;
  const byName = before.find((step) => step.namespace === namespace);
  return inputs.some((input) => input.id !== undefined && input.id === byName?.id) ? undefined : byName;
}

async function choose(planning: Planning, input: StepInputRecord, old: Step | undefined): Promise<ComponentRecord> {
  const { context, who, saved } = planning;
  const choice: ComponentChoice =
    namesComponent(input) || old === undefined ? choiceOf(input) : { componentId: old.componentId };
  const key = JSON.stringify(choice);
  const use = { of: 'step', name: input.namespace, ...(old === undefined ? {} : { before: old.componentId }) } as const;
  const known = saved.get(key) ?? chooseComponent(context.components, who, choice, use);
  saved.set(key, known);
  return known;
}

function choiceOf(input: StepInputRecord): ComponentChoice {
  const names = ['componentId', 'componentKey', 'componentVersion', 'componentCode', 'componentUrl'] as const;
  return Object.fromEntries(names.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]])));
}

async function planStep(planning: Planning, { input, old, component }: ChosenStep, i: number): Promise<Step> {
  const { size } = planning;
  const { namespace } = input;
  const { decided, env } = await decideStepProps(planning, { input, old, component }, i);
  const { configuredProps, dynamicProps } = decided;
  checkHasNoDb(component, mergeDefinitions(component.configurableProps, dynamicProps));
  const step = {
    id: old?.id ?? newId('step'),
    namespace,
    componentId: component.id,
    configuredProps,
    dynamicProps,
    env,
    ...policyOf(input, old),
  };
  await size.addStep(step);
  return step;
}

/**
 * `env`: the environment variables that are named. What checks props cannot let others have the
 * thread, and parsing expressions is long: there it is only noted which values have some, and they
 * are parsed afterwards, whether they were given, kept or are defaults.
 */
async function decideStepProps(
  planning: Planning,
  { input, old, component }: ChosenStep,
  i: number,
): Promise<{ decided: DecidedProps; env: string[] }> {
  const { context, who } = planning;
  const before: PropsBefore | undefined = old && {
    component_id: old.componentId,
    configured_props: old.configuredProps,
    dynamic_props: old.dynamicProps,
  };
  const values: [prop: string, value: unknown][] = [];
  const note = (value: unknown, prop: string) => void values.push([prop, value]);
  const decided = await decideProps(context, who, component, input, before, note).catch((error: unknown) => {
    if (error instanceof HeadwaterError && error.code === 'INVALID_PROPS') return error;
    throw error;
  });
  const { errors, env, limit: exceeded } = await checkExpressions(planning, values, i);
  if (!(decided instanceof HeadwaterError) && errors.length === 0) return { decided, env };
  const limit = exceeded === undefined ? {} : { limit: exceeded };
  if (!(decided instanceof HeadwaterError)) throw invalidProps(errors, limit);
  if (errors.length === 0) throw decided;
  const first = decided.limit === undefined ? limit : { limit: decided.limit };
  throw invalidProps([...decided.fields, ...errors], { ...first, cause: decided });
}

async function checkExpressions(
  { inputs, budget, variables, giveWay }: Planning,
  values: readonly (readonly [prop: string, value: unknown])[],
  i: number,
): Promise<{ errors: FieldError[]; env: string[]; limit?: ExceededLimit }> {
  const { namespace } = inputs[i] as StepInputRecord;
  const before = inputs.slice(0, i).map((one) => one.namespace);
  const env = new Set<string>();
  const errors: FieldError[] = [];
  let limit: ExceededLimit | undefined;
  for (const [prop, value] of values) {
    const noteVariable = (name: string, keys: readonly string[]) => {
      env.add(name);
      variables.push({ name, namespace, step: i, keys: ['props', prop, ...keys] });
    };
    const problem = await findExpressionProblem(value, { before, budget, noteVariable }, giveWay);
    limit ??= problem?.limit;
    if (problem !== undefined) errors.push({ path: `configured_props.${prop}`, message: problem.message });
    await giveWay();
  }
  return { errors, env: [...env].toSorted(), ...(limit === undefined ? {} : { limit }) };
}

/** The given policy, or else the earlier one. Defaults are not stored. */
function policyOf(given: StepInputRecord, old: Step | undefined): Pick<Step, 'retries' | 'onError'> {
  const retries = given.retries === undefined ? old?.retries : given.retries;
  const onError = given.onError === undefined ? old?.onError : given.onError;
  return {
    ...(typeof retries === 'number' ? { retries } : {}),
    ...(onError === 'continue' ? { onError } : {}),
  };
}

/**
 * Values between executions belong in a data store, because many executions may run the same step
 * at once.
 */
function checkHasNoDb({ id }: ComponentRecord, definitions: readonly PropDefinition[]): void {
  const errors = definitions
    .filter(({ type }) => type === '$.service.db')
    .map(({ name, type }) => ({
      path: `configured_props.${name}`,
      message: `${id} has a prop of the type ${type}, which actions cannot have; a prop of the type data_store keeps values`,
    }));
  if (errors.length > 0) throw invalidProps(errors);
}

/** Adds the step to errors of its component or its props. */
async function inStep<T>({ namespace }: StepInputRecord, i: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error;
    const { code, message, limit, retryAfterSeconds } = error;
    const fields = error.fields.map((field) => ({
      ...field,
      path: `steps.${i}.${field.path.replace(/^configured_props\b/, 'props')}`,
    }));
    const shown = fields.length === 0 ? [{ path: `steps.${i}`, message }] : fields;
    throw new HeadwaterError(code, `Step ${namespace}: ${message}`, {
      fields: shown.map((field) => ({ ...field, message: `Step ${namespace}: ${field.message}` })),
      ...(limit === undefined ? {} : { limit }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      cause: error,
    });
  }
}

async function requireVariables(
  { db }: StepContext,
  { accountId }: Principal,
  uses: readonly VariableUse[],
): Promise<void> {
  const there = await lockEnvironmentVariables(db.sql, accountId, [...new Set(uses.map(({ name }) => name))]);
  const errors = new Map<string, FieldError>();
  for (const { name, namespace, step, keys } of uses) {
    if (there.has(name)) continue;
    if (errors.size === MAX_SHOWN_USES) break;
    const path = ['steps', step, ...keys.map((key) => key.slice(0, MAX_SHOWN_KEY_CHARS))].join('.');
    const message = `Step ${namespace}: The account has no environment variable ${name}; make it with PUT /v1/environment_variables/${name}`;
    errors.set(`${name} ${path}`, { path, message });
  }
  if (errors.size > 0) throw invalidProps([...errors.values()]);
}
