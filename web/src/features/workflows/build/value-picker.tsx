import { type SubmitEvent, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { JsonTree } from '../../../ui/json-tree.tsx';

/** Values that an expression can name, below one path. */
export interface ValueGroup {
  title: string;
  /** `steps.trigger.event` */
  root: string;
  /** Undefined: not known yet. */
  value: unknown;
}

/** Names of secret values. Steps can read the values, but the UI cannot show them. */
interface NamedSecrets {
  title: string;
  root: string;
  names: readonly string[];
}

interface ValuePickerProps {
  title: string;
  groups: readonly ValueGroup[];
  secrets: NamedSecrets | undefined;
  onPick: (expression: string) => void;
  onClose: () => void;
}

/**
 * Real values of a past event and of past steps: choosing one answers the expression that reads it.
 */
export function ValuePicker({ title, groups, secrets, onPick, onClose }: ValuePickerProps) {
  const [text, setText] = useState('');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    // It is within another form on the page, though not in the document.
    event.stopPropagation();
    if (text.trim() !== '') onPick(text.trim());
  };
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title={title}
      description="Choose a value that a past event had. The step gets the value of its own event."
    >
      <div className="flex flex-col gap-4">
        {groups.map(({ title: name, root, value }) => (
          <section key={root} aria-label={name}>
            <h3 className="mb-1 flex flex-wrap items-baseline gap-x-2 text-sm font-medium">
              {name}
              <code className="font-mono text-xs font-normal text-ink-faint">{root}</code>
            </h3>
            {value === undefined ? (
              <p className="flex flex-wrap items-center gap-2 text-xs text-ink-soft">
                It has no value yet: test this step, or choose a past execution as the test event.
                <Button size="small" aria-label={`Use ${root}`} onClick={() => onPick(root)}>
                  Use
                </Button>
              </p>
            ) : (
              <JsonTree
                value={value}
                label={name}
                maxHeight={280}
                onPick={(path) => onPick(`${root}${path.slice(1)}`)}
              />
            )}
          </section>
        ))}
        {secrets !== undefined && secrets.names.length > 0 && (
          <section aria-label={secrets.title}>
            <h3 className="mb-1 text-sm font-medium">{secrets.title}</h3>
            <div className="flex flex-wrap gap-2">
              {secrets.names.map((name) => (
                <Button key={name} size="small" className="font-mono" onClick={() => onPick(`${secrets.root}.${name}`)}>
                  {secrets.root}.{name}
                </Button>
              ))}
            </div>
          </section>
        )}
        <form onSubmit={submit} className="flex items-end gap-2">
          <div className="min-w-0 flex-1">
            <TextField
              label="Or an expression"
              className="font-mono"
              value={text}
              placeholder="steps.trigger.event.body.items.length + 1"
              onChange={({ target }) => setText(target.value)}
            />
          </div>
          <Button type="submit" disabled={text.trim() === ''}>
            Insert
          </Button>
        </form>
      </div>
    </Dialog>
  );
}
