import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Panel } from './page.tsx';
import { ProblemNote } from './problem.tsx';
import { SkeletonRows } from './skeleton.tsx';

/** State of a paged list, in the form of TanStack Query's queries. */
interface PagedState {
  isPending: boolean;
  isSuccess: boolean;
  error: unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

export interface PagedProps {
  list: PagedState;
  title?: string;
  actions?: ReactNode;
  count: number;
  empty: ReactNode;
  children: ReactNode;
}

/** A list with its states: loading, refused, empty, and more to come. */
export function Paged({ list, title, actions, count, empty, children }: PagedProps) {
  return (
    <>
      <ProblemNote error={list.error} />
      <Panel {...(title === undefined ? {} : { title })} {...(actions === undefined ? {} : { actions })}>
        {list.isPending && <SkeletonRows />}
        {list.isSuccess && count === 0 && empty}
        {count > 0 && children}
      </Panel>
      {list.hasNextPage && (
        <Button className="self-center" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  );
}
