import { Dialog as Base } from '@base-ui/react/dialog';
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { Icon } from './icons.tsx';

const WIDTHS = {
  lg: { query: '(min-width: 1024px)', columns: 'lg:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)]' },
  xl: { query: '(min-width: 1280px)', columns: 'xl:grid-cols-[minmax(0,1.6fr)_minmax(0,1fr)]' },
} as const;

const InSheet = createContext(false);

interface BesideProps {
  /** The list. */
  children: ReactNode;
  /** The chosen thing; undefined: none. */
  detail: ReactNode | undefined;
  /** Names the sheet: “Event”. */
  title: string;
  onClose: () => void;
  /** From which width on there is room for both. */
  from?: keyof typeof WIDTHS;
  className?: string;
}

/**
 * A list with the selected item beside it; on a narrow screen, the item is in a sheet over the
 * list.
 */
export function Beside({ children, detail, title, onClose, from = 'lg', className }: BesideProps) {
  const { query, columns } = WIDTHS[from];
  const isWide = useMediaQuery(query);
  return (
    <div
      className={classNames('grid min-w-0 grid-cols-1 items-start gap-4', detail !== undefined && columns, className)}
    >
      {children}
      {isWide ? (
        detail
      ) : (
        <Sheet isOpen={detail !== undefined} title={title} onClose={onClose}>
          {detail}
        </Sheet>
      )}
    </div>
  );
}

interface DetailProps {
  isOpen: boolean;
  title: string;
  onClose: () => void;
  children: ReactNode;
}

interface BelowProps extends DetailProps {
  /** Also where there is room is it shown only while it is open. Default true. */
  closes?: boolean;
}

/** After its list where there is room, else in a sheet over it. */
export function Below({ closes = true, ...sheet }: BelowProps) {
  const isWide = useMediaQuery(WIDTHS.lg.query);
  if (!isWide) return <Sheet {...sheet} />;
  return sheet.isOpen || !closes ? sheet.children : null;
}

/** A page over the page, with a way back: the list below keeps its place. */
function Sheet({ isOpen, title, onClose, children }: DetailProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Popup className="fixed inset-0 z-30 overflow-y-auto bg-canvas outline-none">
          <div className="sticky top-0 z-10 flex h-12 items-center gap-2 border-b border-line bg-surface px-3">
            <Base.Close render={<Button kind="quiet" size="small" />}>
              <Icon name="chevron" className="size-4 rotate-180" />
              Back
            </Base.Close>
            <Base.Title className="min-w-0 truncate text-sm font-semibold">{title}</Base.Title>
          </div>
          <div className="flex flex-col gap-4 p-4">
            <InSheet.Provider value>{children}</InSheet.Provider>
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** Closes what lies beside a list; a sheet has its own way back. */
export function CloseDetail({ onClose }: { onClose: () => void }) {
  if (useContext(InSheet)) return null;
  return (
    <Button kind="quiet" size="small" onClick={onClose}>
      Close
    </Button>
  );
}

function useMediaQuery(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}
