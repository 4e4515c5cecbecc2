import { Menu } from '@base-ui/react/menu';
import { useState } from 'react';
import { publicUrl } from '../api/base-url.ts';
import { portal } from '../app/portal.ts';
import { Button } from './button.tsx';
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

export interface Command {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the base path, with its query. */
  path: string;
  body?: unknown;
  /** The same command for `hw`; absent if it has none. */
  hw?: string;
}

function curlOf({ method = 'GET', path, body }: Command): string {
  const parts = ['curl', ...(method === 'GET' ? [] : ['-X', method]), shellQuote(publicUrl(path))];
  parts.push('-H', '"Authorization: Bearer $HEADWATER_API_KEY"');
  if (body !== undefined) parts.push('-H', "'Content-Type: application/json'", '-d', shellQuote(JSON.stringify(body)));
  return parts.join(' ');
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Nothing on a page is hidden from the terminal. */
export function CopyMenu({ command }: { command: Command }) {
  const { copied, copy } = useCopy();
  const { hw } = command;
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
          <Menu.Popup className="min-w-44 rounded-lg border border-line bg-raised p-1 shadow-popup outline-none">
            <MenuItem onClick={() => copy(curlOf(command))}>Copy as curl</MenuItem>
            {hw !== undefined && <MenuItem onClick={() => copy(hw)}>Copy as hw</MenuItem>}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
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
