import { HeadwaterProblem } from '@headwater/client';
import type { CodeProblem } from '../../ui/code-editor.tsx';

/** The lines that a refused save blames. */
export function codeProblems(error: unknown): CodeProblem[] {
  const problems = error instanceof HeadwaterProblem ? (error.problem.errors ?? []) : [];
  return problems.flatMap(({ line, column, message }) =>
    line === undefined ? [] : [{ line, message, ...(column === undefined ? {} : { column }) }],
  );
}
