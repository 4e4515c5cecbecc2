import { Link } from '@tanstack/react-router';
import { Page } from './page.tsx';
import { ProblemNote } from './problem.tsx';
import { SkeletonRows } from './skeleton.tsx';

interface PendingPageProps {
  title: string;
  /** Null: it is still being asked for. */
  error: unknown;
  /** The list to go on from where there is no such thing. */
  list: '/sources' | '/webhooks' | '/workflows' | '/traces';
}

/** The page of one thing until it is there, or why it is not. */
export function PendingPage({ title, error, list }: PendingPageProps) {
  return (
    <Page title={title}>
      {error === null ? (
        <SkeletonRows />
      ) : (
        <ProblemNote error={error}>
          <Link to={list} className="mt-1 inline-block text-accent underline">
            All {list.slice(1)}
          </Link>
        </ProblemNote>
      )}
    </Page>
  );
}
