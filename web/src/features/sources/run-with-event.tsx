import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { parseExact } from '../../api/exact-json.ts';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { type Command, hwWithInput } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { Source } from './source-queries.ts';

interface RunWithEventProps {
  source: Source;
  /** JSON text to begin with. Default: an event like those that start the source. */
  given?: string;
  description?: string;
  onClose: () => void;
}

/** Runs a source with an event that the user writes, as a request or a tick would. */
export function RunWithEvent({ source, given, description, onClose }: RunWithEventProps) {
  const [text, setText] = useState(() => given ?? JSON.stringify(exampleFor(source), null, 2));
  const parsed = parse(text);
  const running = useMutation({
    mutationFn: (event: unknown) => api.post('/v1/sources/{id}/run', { path: { id: source.id }, body: { event } }),
    onSuccess: onClose,
  });
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={`Run ${source.name}`}
      description={description ?? 'The event that run gets, as JSON.'}
    >
      <div className="flex flex-col gap-3">
        <CodeView value={text} label="Event" language="json" onChange={setText} />
        {'fault' in parsed && (
          <p role="alert" className="text-sm text-bad">
            {parsed.fault}
          </p>
        )}
        <ProblemNote error={running.error} />
        <div className="flex justify-end gap-2">
          {'event' in parsed && (
            <CopyMenu
              command={{
                method: 'POST',
                path: `/v1/sources/${source.id}/run`,
                body: { event: parsed.event },
                hw: hwWithInput(JSON.stringify(parsed.event), ['run', source.id], { event: '-' }),
              }}
            />
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={running.isPending}
            disabled={'fault' in parsed}
            onClick={() => 'event' in parsed && running.mutate(parsed.event)}
          >
            Run
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function parse(text: string): { event: unknown } | { fault: string } {
  try {
    return { event: parseExact(text) };
  } catch (error) {
    return { fault: `This is no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/**
 * The command of a run by hand. For a source of requests it has a request, as code reads its method
 * and path; for others the server makes the event.
 */
export function runCommandOf(source: Source): Command & { body: object } {
  const { id } = source;
  const run = { method: 'POST', path: `/v1/sources/${id}/run` } as const;
  if (!typesOf(source).has('$.interface.http')) return { ...run, body: {}, hw: `hw run ${id}` };
  const event = exampleFor(source);
  return { ...run, body: { event }, hw: hwWithInput(JSON.stringify(event), ['run', id], { event: '-' }) };
}

const typesOf = ({ configurable_props: props }: Source) => new Set(props.map(({ type }) => type));

function exampleFor(source: Source): unknown {
  const types = typesOf(source);
  if (types.has('$.interface.http'))
    return { method: 'POST', path: '/', query: {}, headers: { 'content-type': 'application/json' }, body: {} };
  if (types.has('$.interface.timer')) return { timestamp: Math.floor(Date.now() / 1000) };
  return {};
}
