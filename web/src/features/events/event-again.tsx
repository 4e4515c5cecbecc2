import { Menu } from '@base-ui/react/menu';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { writeExact } from '../../api/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import { MenuItem } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { PublishDialog } from '../sources/publish-event.tsx';
import { RunWithEvent } from '../sources/run-with-event.tsx';
import { type Source, sourceQuery } from '../sources/source-queries.ts';
import { type Trigger, triggerOfEvent } from './trigger-of-event.ts';
import type { LiveEvent } from './use-live-events.ts';

interface EventAgainProps {
  event: LiveEvent;
  /** All its data; undefined while that is loaded. */
  data: unknown;
}

type Opened = { source: Source } & ({ kind: 'run'; trigger: Trigger } | { kind: 'emit' });

/** Runs the source of an event again with what started it, or emits the event anew. */
export function EventAgain({ event, data }: EventAgainProps) {
  const [opened, setOpened] = useState<Opened>();
  const queries = useQueryClient();
  const opening = useMutation({
    mutationFn: async (kind: Opened['kind']): Promise<Opened> => {
      const source = await queries.query(sourceQuery(event.metadata.emitter_id));
      if (kind === 'emit') return { kind, source };
      return { kind, source, trigger: await triggerOfEvent(event, data) };
    },
    onSuccess: setOpened,
  });
  const close = () => setOpened(undefined);
  return (
    <>
      <Menu.Root>
        <Menu.Trigger
          render={<Button size="small" needs="change" busy={opening.isPending} disabled={data === undefined} />}
        >
          <Icon name="retry" className="size-3.5" />
          Again
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner align="end" sideOffset={4} className="z-50">
            <Menu.Popup className="min-w-44 rounded-lg border border-line bg-raised p-1 shadow-popup outline-none">
              <MenuItem onClick={() => opening.mutate('run')}>Run its trigger again…</MenuItem>
              <MenuItem onClick={() => opening.mutate('emit')}>Emit it again…</MenuItem>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {opened?.kind === 'run' && (
        <RunWithEvent
          source={opened.source}
          given={opened.trigger.text}
          description={opened.trigger.explanation}
          onClose={close}
        />
      )}
      {opened?.kind === 'emit' && (
        <PublishDialog
          source={opened.source}
          given={{ data: writeExact(data), channel: event.metadata.name, summary: event.metadata.summary }}
          onClose={close}
        />
      )}
      <div className="basis-full empty:hidden">
        <ProblemNote error={opening.error} />
      </div>
    </>
  );
}
