import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, useMemo } from 'react';
import { Button, type ButtonProps } from './button.tsx';
import { Icon } from './icons.tsx';

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  wide?: boolean;
}

/**
 * Over the page; Escape and the backdrop close it, and focus goes back to what opened it. Its top
 * stays in place while what is in it becomes longer.
 */
export function Dialog({ open, onClose, title, description, children, wide = false }: DialogProps) {
  // Read before a field of the dialog takes the focus by itself.
  const opener = useMemo(() => (open ? document.activeElement : null), [open]);
  const backTo = () =>
    opener instanceof HTMLElement && opener !== document.body && opener.isConnected ? opener : true;
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/35" />
        <Base.Popup
          finalFocus={backTo}
          className={`fixed top-[8dvh] left-1/2 z-50 max-h-[88dvh] w-[calc(100vw-2rem)] -translate-x-1/2 overflow-y-auto rounded-lg border border-line bg-raised p-5 shadow-popup outline-none ${wide ? 'max-w-3xl' : 'max-w-lg'}`}
        >
          <div className="mb-3 pr-9">
            <Base.Title className="text-lg font-semibold break-words">{title}</Base.Title>
            {description !== undefined && (
              <Base.Description className="mt-0.5 text-sm text-ink-soft">{description}</Base.Description>
            )}
          </div>
          {children}
          {/* The last one: the focus begins in what the dialog is about. */}
          <Base.Close
            render={<Button kind="quiet" size="small" aria-label="Close" className="absolute top-4 right-4 px-1.5" />}
          >
            <Icon name="cross" />
          </Base.Close>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** The row at the end of a form in a dialog: the way out, then what the dialog is for. */
export function Actions({ onCancel, children }: { onCancel: () => void; children: ReactNode }) {
  return (
    <div className="flex justify-end gap-2">
      <Button onClick={onCancel}>Cancel</Button>
      {children}
    </div>
  );
}

export interface ConfirmProps {
  open: boolean;
  onClose: () => void;
  /** Names the thing: “Delete source Orders?” */
  title: string;
  /** Says what goes with it. */
  children: ReactNode;
  /** The word on the button. */
  action: string;
  busy?: boolean;
  /** As of a button. */
  needs?: ButtonProps['needs'];
  onConfirm: () => void;
}

export function Confirm({
  open,
  onClose,
  title,
  children,
  action,
  busy = false,
  needs = 'change',
  onConfirm,
}: ConfirmProps) {
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <div className="text-sm text-ink-soft [&>[role=alert]]:mt-3">{children}</div>
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={onClose}>Keep it</Button>
        <Button kind="danger" needs={needs} busy={busy} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
