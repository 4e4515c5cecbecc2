import { Link, useRouter } from '@tanstack/react-router';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { ProblemNote } from '../ui/problem.tsx';

export function NotFound() {
  return (
    <Empty
      icon="search"
      title="There is nothing here"
      action={
        <Link to="/" className="text-accent underline">
          Go to the overview
        </Link>
      }
    >
      The address may be mistyped, or what it showed was deleted.
    </Empty>
  );
}

/** A page that failed to draw does not take the rest of the UI with it. */
export function Crash({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return (
    <div className="mx-auto max-w-xl p-6">
      <h1 className="mb-3 text-lg font-semibold">This page could not be shown</h1>
      <ProblemNote error={error} />
      <div className="mt-4 flex gap-2">
        <Button kind="primary" needs={null} onClick={again}>
          Try again
        </Button>
        <Button onClick={() => location.reload()}>Reload the page</Button>
      </div>
    </div>
  );
}
