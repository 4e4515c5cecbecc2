import { useQuery } from '@tanstack/react-query';
import { HeadwaterProblem } from '@headwater/client';
import { Button } from './button.tsx';
import { CodeView } from './code-view.tsx';
import { Dialog } from './dialog.tsx';
import { ProblemNote } from './problem.tsx';

export const isConflict = (error: unknown) => error instanceof HeadwaterProblem && error.status === 412;

interface ConflictProps<T> {
  /** Text that the user tried to save. `textOf` makes the other state's text, for comparison. */
  mine: string;
  textOf: (theirs: T) => string;
  language: 'json' | 'typescript';
  /** Reads the state that there is now. */
  read: () => Promise<T>;
  busy: boolean;
  onClose: () => void;
  onTakeTheirs: (theirs: T) => void;
  onKeepMine: (theirs: T) => void;
}

/**
 * Another user has changed the edited resource: shows both versions and a choice. Nothing was
 * written.
 */
export function Conflict<T>(props: ConflictProps<T>) {
  const { mine, textOf, language, read, busy, onClose, onTakeTheirs, onKeepMine } = props;
  const { data: theirs, error } = useQuery({ queryKey: ['conflict'], queryFn: read, gcTime: 0, staleTime: Infinity });
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="Somebody else changed this meanwhile"
      description="Nothing was written. Left out or struck: how it is now. Added: your version."
    >
      <ProblemNote error={error} />
      {theirs !== undefined && (
        <CodeView value={mine} original={textOf(theirs)} label="Your version against theirs" language={language} />
      )}
      <div className="mt-4 flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Go on editing</Button>
        <Button disabled={theirs === undefined} onClick={() => theirs !== undefined && onTakeTheirs(theirs)}>
          Take theirs
        </Button>
        <Button
          kind="danger"
          busy={busy}
          disabled={theirs === undefined}
          onClick={() => theirs !== undefined && onKeepMine(theirs)}
        >
          Save mine over it
        </Button>
      </div>
    </Dialog>
  );
}
