import {
  createGiveWay,
  type ExceededLimit,
  type FieldError,
  HeadwaterError,
  LIMITS,
  newId,
  type PropDefinition,
} from '@headwater/shared';
import { chooseComponent, namesComponent } from '../components/choose-component.ts';
import type { Principal } from '../contract-base.ts';
import type { ComponentChoice, ComponentRecord, Components } from '../contract-components.ts';
import type { StepInputRecord } from '../contract-workflows.ts';
import { type DecideContext, decideProps, type PropsBefore } from '../sources/decide-props.ts';
import { mergeDefinitions } from '../sources/merge-definitions.ts';
import { invalidProps } from '../sources/validate-props.ts';
import { lockEnvironmentVariables } from '../store/environment-variables.ts';
import type { Step } from './deployment.ts';
import {
  expressionBudget,
  type ExpressionBudget,
  findExpressionProblem,
  findProblemInTurns,
  type ValueScope,
  MAX_SHOWN_KEY_CHARS,
} from './expressions/check-value.ts';

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
  giveWay: () => Promise<void>;
}

/**
 * Where an environment variable is named: `keys` lead there from the step, such as `['props', 'headers', 'authorization']`. They are joined where
 * they are shown: one key may have 50 000 characters, and an expression under it a thousand variables.
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
 * The steps of a new version: their components are saved or looked up, their props checked and sealed, their expressions
 * checked. Throws INVALID_PROPS with everything that is wrong with the props of all steps, and what is wrong with the first
 * component that is, each with the path of its step.
 */
export async function planSteps(
  context: StepContext,
  who: Principal,
  inputs: readonly StepInputRecord[],
  before: readonly Step[],
): Promise<Step[]> {
  const planning: Planning = {
    context,
    who,
    inputs,
    before,
    budget: expressionBudget(),
    variables: [],
    saved: new Map(),
    giveWay: createGiveWay(),
  };
  const chosen: ChosenStep[] = [];
  for (const [i, input] of inputs.entries()) {
    const old = oldStep(planning, input);
    chosen.push({ input, old, component: await inStep(input, i, () => choose(planning, input, old)) });
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

/** The step that is there already: by its id, or else by its namespace, unless that is one that another input names by id. */
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
  const { context, who, inputs, budget, variables } = planning;
  const { namespace } = input;
  const namespacesBefore = inputs.slice(0, i).map((one) => one.namespace);
  const before: PropsBefore | undefined = old && {
    component_id: old.componentId,
    configured_props: old.configuredProps,
    dynamic_props: old.dynamicProps,
  };
  const env = new Set<string>();
  const note = ({ name, keys }: NamedVariable, prop: string) => {
    env.add(name);
    variables.push({ name, namespace, step: i, keys: ['props', prop, ...keys] });
  };
  const scope = { before: namespacesBefore, budget };
  const found = await checkAhead(input, scope, planning.giveWay);
  // What was stored before, or is a default, is no part of the input.
  const check = (value: unknown, prop: string) => {
    const known = found.get(value);
    for (const named of known?.named ?? []) note(named, prop);
    const noteVariable = (name: string, keys: readonly string[]) => note({ name, keys }, prop);
    return known === undefined ? findExpressionProblem(value, { ...scope, noteVariable }) : known.problem;
  };
  const { configuredProps, dynamicProps } = await decideProps(context, who, component, input, before, check);
  checkHasNoDb(component, mergeDefinitions(component.configurableProps, dynamicProps));
  const id = old?.id ?? newId('step');
  const named = [...env].toSorted();
  return {
    id,
    namespace,
    componentId: component.id,
    configuredProps,
    dynamicProps,
    env: named,
    ...policyOf(input, old),
  };
}

/** What is given, or else that of before; what is the default is not stored. */
function policyOf(given: StepInputRecord, old: Step | undefined): Pick<Step, 'retries' | 'onError'> {
  const retries = given.retries === undefined ? old?.retries : given.retries;
  const onError = given.onError === undefined ? old?.onError : given.onError;
  return {
    ...(typeof retries === 'number' ? { retries } : {}),
    ...(onError === 'continue' ? { onError } : {}),
  };
}

/** An environment variable, and the keys that lead to it in the value. */
interface NamedVariable {
  name: string;
  keys: readonly string[];
}

interface CheckedValue {
  problem: string | undefined;
  named: readonly NamedVariable[];
}

/** The expressions of the input, by value: what checks props afterwards cannot let others have the thread. */
async function checkAhead(
  { configuredProps = {} }: StepInputRecord,
  scope: Omit<ValueScope, 'noteVariable'>,
  giveWay: () => Promise<void>,
): Promise<Map<unknown, CheckedValue>> {
  const found = new Map<unknown, CheckedValue>();
  for (const value of Object.values(configuredProps)) {
    // What is too large is refused unread.
    if (found.has(value) || (JSON.stringify(value)?.length ?? 0) > LIMITS.maxPropValueBytes) continue;
    const named: NamedVariable[] = [];
    const noteVariable = (name: string, keys: readonly string[]) => void named.push({ name, keys });
    const problem = await findProblemInTurns(value, { ...scope, noteVariable }, giveWay);
    found.set(value, { problem, named });
    await giveWay();
  }
  return found;
}

/** What is kept from one execution to another is kept in a data store: there may be many of a step at the same time. */
function checkHasNoDb({ id }: ComponentRecord, definitions: readonly PropDefinition[]): void {
  const errors = definitions
    .filter(({ type }) => type === '$.service.db')
    .map(({ name, type }) => ({
      path: `configured_props.${name}`,
      message: `${id} has a prop of the type ${type}, which actions cannot have; a prop of the type data_store keeps values`,
    }));
  if (errors.length > 0) throw invalidProps(errors);
}

/** Names the step in what its component or its props are refused for. */
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
