import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Empty, STEP_CLASS } from '../../ui/empty.tsx';
import type { IconName } from '../../ui/icons.tsx';

/** An empty list that the first event of the account fills: the way is a source. */
export function NoEvents({ icon, title, children }: { icon: IconName; title: string; children: ReactNode }) {
  return (
    <Empty
      icon={icon}
      title={title}
      command="hw init source hello && hw deploy hello.mjs"
      action={
        <Link to="/sources" search={{ action: 'create' }} className={STEP_CLASS}>
          New source
        </Link>
      }
    >
      {children}
    </Empty>
  );
}
