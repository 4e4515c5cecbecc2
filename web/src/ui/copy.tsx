import { Menu } from '@base-ui/react/menu';
import { useState } from 'react';
import { portal } from '../app/portal.ts';
import { Button } from './button.tsx';
import { type Command, curlOf } from './command.ts';
import { Icon } from './icons.tsx';

const SHOWN_MS = 1_500;

/** Copies on a click and says that it did. */
function useCopy(): { copied: boolean; copy: (text: string) => void } {
  const [copied, setCopied] = useState(false);
  return {
    copied,
    copy(text) {
      void navigator.clipboard.writeText(text).then(() => {
        setCopied(true);
        setTimeout(() => setCopied(false), SHOWN_MS);
      });
    },
  };
}

/** `what`: the accessible name, as in “Copy endpoint URL”. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const { copied, copy } = useCopy();
  return (
    <Button kind="quiet" size="small" className="px-1.5" aria-label={`Copy ${what}`} onClick={() => copy(text)}>
      <Icon name={copied ? 'check' : 'copy'} className="size-3.5" />
    </Button>
  );
}

interface CopyMenuProps {
  /** The command of the page, or of the one action that the menu is beside. */
  command: Command;
  /** The commands of the page's actions, by what their buttons say. */
  actions?: Readonly<Record<string, Command | undefined>>;
}

/** Nothing on a page is hidden from the terminal. */
export function CopyMenu({ command, actions = {} }: CopyMenuProps) {
  const { copied, copy } = useCopy();
  // The key of a portal is not the customer's to keep.
  if (portal !== undefined) return null;
  return (
    <Menu.Root>
      <Menu.Trigger
        render={<Button kind="quiet" aria-label="Copy as command" title="Copy as command" className="px-2" />}
      >
        <Icon name={copied ? 'check' : 'copy'} />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={4} className="z-50">
          <Menu.Popup className="max-h-(--available-height) min-w-44 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-popup outline-none">
            <CopyItems command={command} of="Copy" onCopy={copy} />
            {Object.entries(actions).map(
              ([name, action]) =>
                action !== undefined && (
                  <div key={name} className="mt-1 border-t border-line pt-1">
                    <CopyItems command={action} of={name} onCopy={copy} />
                  </div>
                ),
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function CopyItems({ command, of, onCopy }: { command: Command; of: string; onCopy: (text: string) => void }) {
  const { hw } = command;
  return (
    <>
      <MenuItem onClick={() => onCopy(curlOf(command))}>{of} as curl</MenuItem>
      {hw !== undefined && <MenuItem onClick={() => onCopy(hw)}>{of} as hw</MenuItem>}
    </>
  );
}

export function MenuItem({ onClick, children }: { onClick: () => void; children: React.ReactNode }) {
  return (
    <Menu.Item
      onClick={onClick}
      className="flex cursor-pointer items-center gap-2 rounded px-2 py-1.5 text-sm outline-none data-highlighted:bg-sunken"
    >
      {children}
    </Menu.Item>
  );
}
