import { HeadwaterProblem } from '@headwater/client';
import type { DraftStep } from './draft.ts';

/**
 * The part of a refusal that is about one step, with paths that begin there; undefined where none
 * is.
 */
export function problemsOfStep(error: unknown, position: number): HeadwaterProblem | undefined {
  return problemsUnder(error, `steps.${position}.`);
}

export function problemsOfTriggers(error: unknown): HeadwaterProblem | undefined {
  return problemsUnder(error, 'triggers.');
}

/** Whether all that is wrong is shown at a step, at the triggers or beside the name. */
export function isShownInPlace(error: unknown): boolean {
  if (!(error instanceof HeadwaterProblem)) return false;
  const { errors = [] } = error.problem;
  return errors.length > 0 && errors.every(({ path }) => /^(steps\.\d+\.|triggers\.|name$)/.test(path));
}

/** Problems of a step that belong to no field of its form; undefined if there are none. */
export function problemsBesideProps(error: unknown, { definitions }: DraftStep): HeadwaterProblem | undefined {
  if (!(error instanceof HeadwaterProblem)) return undefined;
  const fields = new Set(definitions.map(({ name }) => `props.${name}`));
  const errors = (error.problem.errors ?? []).filter(({ path }) => !fields.has(path));
  return errors.length === 0 ? undefined : new HeadwaterProblem(error.status, { ...error.problem, errors });
}

function problemsUnder(error: unknown, prefix: string): HeadwaterProblem | undefined {
  if (!(error instanceof HeadwaterProblem)) return undefined;
  const errors = (error.problem.errors ?? [])
    .filter(({ path }) => path.startsWith(prefix))
    .map((one) => ({ ...one, path: one.path.slice(prefix.length) }));
  return errors.length === 0 ? undefined : new HeadwaterProblem(error.status, { ...error.problem, errors });
}

/** Removes the errors of these props of a step; undefined: all errors of the step. */
export function withoutProblems(error: unknown, position: number, names: readonly string[] | undefined): unknown {
  if (!(error instanceof HeadwaterProblem)) return error;
  const prefix = `steps.${position}.`;
  const isMended = (path: string) =>
    names === undefined
      ? path.startsWith(prefix)
      : names.some((name) => `${path}.`.startsWith(`${prefix}props.${name}.`));
  return new HeadwaterProblem(error.status, {
    ...error.problem,
    errors: (error.problem.errors ?? []).filter(({ path }) => !isMended(path)),
  });
}
