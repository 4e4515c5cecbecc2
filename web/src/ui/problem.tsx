import type { ReactNode } from 'react';
import { HeadwaterProblem } from '@headwater/client';
import { ConnectionError, problemText } from '../api/problem.ts';
import { Icon } from './icons.tsx';

/** Shows an error in the server's words, with every problem and a way out. */
export function ProblemNote({ error, children }: { error: unknown; children?: ReactNode }) {
  if (error === null || error === undefined) return null;
  const problem = error instanceof HeadwaterProblem ? error.problem : undefined;
  const text = problemText(error);
  // A message that the first line has whole is not said twice, unless its place comes with it.
  const others = (problem?.errors ?? []).filter(({ message, line }) => line !== undefined || !text.includes(message));
  return (
    <div role="alert" className="rounded-md border border-bad/30 bg-bad-soft px-3 py-2 text-sm text-ink">
      <div className="flex gap-2">
        <Icon name="warning" className="mt-0.5 size-4 text-bad" />
        <div className="min-w-0 flex-1">
          <p className="break-words whitespace-pre-wrap">{text}</p>
          {others.length > 0 && (
            <ul className="mt-1 list-disc pl-4 text-xs">
              {others.map(({ path, message, line, column }) => (
                <li key={`${path} ${message}`} className="break-words whitespace-pre-wrap">
                  {path !== '' && <code className="font-mono">{path}</code>} {message}
                  {line !== undefined && ` (line ${line}${column === undefined ? '' : `, column ${column + 1}`})`}
                </li>
              ))}
            </ul>
          )}
          {problem?.request_id !== undefined && (
            <p className="mt-1 text-xs text-ink-soft">
              Request <code className="font-mono">{problem.request_id}</code>
            </p>
          )}
          {error instanceof ConnectionError && error.wasChange && (
            <p className="mt-1 text-xs text-ink-soft">
              What you wrote is still here. If the connection broke off only after the request, the change was made:
              look before you make it again.
            </p>
          )}
          {children}
        </div>
      </div>
    </div>
  );
}
