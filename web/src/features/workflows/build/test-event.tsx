import { useState } from 'react';
import { CodeView } from '../../../ui/code-view.tsx';
import { Field, INPUT_CLASS } from '../../../ui/field.tsx';
import { JsonTree } from '../../../ui/json-tree.tsx';
import { Panel } from '../../../ui/page.tsx';
import { ProblemNote } from '../../../ui/problem.tsx';
import { SkeletonRows } from '../../../ui/skeleton.tsx';
import type { SampleChoice, Samples } from './sample.ts';

interface TestEventProps {
  samples: Samples;
  onChoose: (id: string) => void;
  written: unknown;
  onWrite: (event: unknown) => void;
}

/** The event that tests run with: a past one, or one that is written here. */
export function TestEvent({ samples, onChoose, written, onWrite }: TestEventProps) {
  const { executions, events, sample } = samples;
  return (
    <Panel title="Test event">
      <div className="flex flex-col gap-3 p-4">
        <div className="max-w-md">
          <Field label="Event for tests" description="Expressions show its values, and tests run with it.">
            {(ids) => (
              <select
                {...ids}
                className={INPUT_CLASS}
                value={sample.eventId ?? 'none'}
                onChange={({ target }) => onChoose(target.value)}
              >
                <option value="none">written here</option>
                <Choices label="Events" choices={events} />
                <Choices label="Executions" choices={executions} />
              </select>
            )}
          </Field>
        </div>
        <ProblemNote error={sample.error} />
        {sample.eventId === undefined ? (
          <WrittenEvent event={written} onChange={onWrite} />
        ) : sample.isPending ? (
          <SkeletonRows rows={4} />
        ) : (
          <JsonTree key={sample.eventId} value={sample.event} label="Test event" maxHeight={360} />
        )}
      </div>
    </Panel>
  );
}

const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

function Choices({ label, choices }: { label: string; choices: readonly SampleChoice[] }) {
  if (choices.length === 0) return null;
  return (
    <optgroup label={label}>
      {choices.map(({ id, label: text, atMs }) => (
        <option key={id} value={id}>
          {text} · {time.format(atMs)}
        </option>
      ))}
    </optgroup>
  );
}

/** Text that is no JSON is kept in the field, and the event stays as it was. */
function WrittenEvent({ event, onChange }: { event: unknown; onChange: (event: unknown) => void }) {
  const [text, setText] = useState(() => JSON.stringify(event, undefined, 2));
  const [fault, setFault] = useState<string>();
  return (
    <>
      <CodeView
        value={text}
        label="Event as JSON"
        language="json"
        onChange={(next) => {
          setText(next);
          try {
            onChange(JSON.parse(next));
            setFault(undefined);
          } catch (error) {
            setFault(error instanceof Error ? error.message : String(error));
          }
        }}
      />
      {fault !== undefined && (
        <p role="alert" className="text-xs text-bad">
          This is not JSON: {fault}
        </p>
      )}
    </>
  );
}
