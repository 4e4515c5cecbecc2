import { type Fault, type FieldError, LIMITS, platformLimit } from '@headwater/shared';
import { findCountFault, findTextFault, type StepInputRecord } from '../contract/index.ts';
import type { Step } from './deployment.ts';
import { requireAtMost } from './require-at-most.ts';

const NAMESPACE = /^[A-Za-z_$][\w$]*$/;
/**
 * `trigger` is the event. The others are members of every object, so `steps.<namespace>` would find
 * those instead.
 */
const RESERVED = new Set(['trigger', '__proto__', 'constructor', 'prototype']);

/**
 * Problems of the list of steps itself, before components are read. Throws INVALID_REQUEST with the
 * limit if there are too many steps.
 */
export function findStepProblems(inputs: readonly StepInputRecord[], before: readonly Step[]): FieldError[] {
  requireAtMost('steps', inputs.length);
  const namespaces = new Set<string>();
  const ids = new Set<string>();
  return inputs.flatMap(({ namespace, id, retries }, i) => {
    const errors: FieldError[] = [];
    const problem = findNamespaceProblem(namespace, namespaces);
    if (problem !== undefined) errors.push({ path: `steps.${i}.namespace`, ...problem });
    namespaces.add(namespace);
    const retriesProblem = findRetriesProblem(retries);
    if (retriesProblem !== undefined) errors.push({ path: `steps.${i}.retries`, ...retriesProblem });
    if (id === undefined) return errors;
    // Ids in a new workflow mean nothing: a client may copy the steps of another workflow.
    if (before.length > 0 && !before.some((step) => step.id === id))
      errors.push({ path: `steps.${i}.id`, message: `The workflow has no step ${id}` });
    if (ids.has(id)) errors.push({ path: `steps.${i}.id`, message: `${id} is there twice` });
    ids.add(id);
    return errors;
  });
}

function findRetriesProblem(retries: number | null | undefined): Fault | undefined {
  return findCountFault(retries, 0, platformLimit('maxStepRetries', retries ?? 0));
}

function findNamespaceProblem(namespace: string, taken: ReadonlySet<string>): Fault | undefined {
  if (namespace.length > LIMITS.maxNamespaceChars) return findTextFault(namespace, 'maxNamespaceChars');
  const message = findNamespaceMistake(namespace, taken);
  return message === undefined ? undefined : { message };
}

function findNamespaceMistake(namespace: string, taken: ReadonlySet<string>): string | undefined {
  if (!NAMESPACE.test(namespace))
    return 'must be letters, digits, _ and $, no digit first: it is read as steps.<namespace>';
  if (RESERVED.has(namespace)) return `must not be ${namespace}`;
  return taken.has(namespace) ? `${namespace} is the namespace of another step` : undefined;
}
