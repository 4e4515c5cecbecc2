import { Link } from '@tanstack/react-router';
import { Stack } from '../../ui/stack.tsx';
import type { Execution } from './workflow-queries.ts';

interface FailureProps {
  error: NonNullable<Execution['error']>;
  isAlert?: boolean;
  /** The top of the page says why: here is only where. */
  isTold?: boolean;
}

/** An error, with its stack. */
export function Failure({ error: { code, message, stack }, isAlert = false, isTold = false }: FailureProps) {
  return (
    <div role={isAlert ? 'alert' : undefined} className="rounded-md border border-bad/30 bg-bad-soft p-3 text-sm">
      <p className="font-medium text-bad">{code}</p>
      {!isTold && <p className="break-words whitespace-pre-wrap">{message}</p>}
      {stack !== null && <Stack text={stack} message={message} />}
    </div>
  );
}

/** Why it failed. Where a step shows the rest, a link leads to the step. */
export function FailureOf({ execution, onShow }: { execution: Execution; onShow: () => void }) {
  const { error, steps } = execution;
  if (error === null) return null;
  const { message, namespace } = error;
  if (namespace === null || (steps[namespace]?.error ?? null) === null) return <Failure error={error} isAlert />;
  return (
    <div
      role="alert"
      className="flex items-center gap-3 rounded-md border border-bad/30 bg-bad-soft px-3 py-2 text-sm max-sm:flex-wrap"
    >
      <p className="min-w-0 flex-1 break-words whitespace-pre-wrap max-sm:basis-full">
        <span className="font-medium text-bad">Step {namespace} failed:</span> {message}
      </p>
      <Link
        from="/executions/$id"
        to="."
        search={{ step: namespace }}
        replace
        resetScroll={false}
        onClick={onShow}
        className="whitespace-nowrap text-accent underline"
      >
        Show the step
      </Link>
    </div>
  );
}
