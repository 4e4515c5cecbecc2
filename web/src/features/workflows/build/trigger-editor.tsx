import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { namesQuery } from '../../../api/names.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy.tsx';
import { Field, INPUT_CLASS, TextField } from '../../../ui/field.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { Panel } from '../../../ui/page.tsx';
import { ProblemNote } from '../../../ui/problem.tsx';
import { CreateSource } from '../../sources/create-source.tsx';
import type { DraftTrigger } from './draft.ts';

interface TriggerEditorProps {
  triggers: readonly DraftTrigger[];
  onChange: (triggers: readonly DraftTrigger[]) => void;
  error: unknown;
}

/** Triggers of the workflow. Without one, only users start it. */
export function TriggerEditor({ triggers, onChange, error }: TriggerEditorProps) {
  const set = (at: number, trigger: DraftTrigger) => onChange(triggers.with(at, trigger));
  return (
    <Panel title="Triggers">
      <div className="flex flex-col gap-5 p-4">
        {triggers.length === 0 && <p className="text-sm text-ink-soft">Only started by hand, with Run now.</p>}
        {triggers.map((trigger, at) => (
          // A trigger that is not saved has its place alone.
          <fieldset key={trigger.id ?? at} className="flex flex-col gap-3">
            <legend className="sr-only">Trigger {at + 1}</legend>
            <div className="flex items-end gap-2">
              <div className="w-56">
                <Field label="Starts at">
                  {(ids) => (
                    <select
                      {...ids}
                      className={INPUT_CLASS}
                      value={trigger.type}
                      onChange={({ target }) => set(at, newTrigger(target.value as DraftTrigger['type']))}
                    >
                      <option value="http">a request to its URL</option>
                      <option value="timer">a schedule</option>
                      <option value="source">an event of a source</option>
                    </select>
                  )}
                </Field>
              </div>
              <Button
                kind="quiet"
                aria-label={`Remove trigger ${at + 1}`}
                className="px-2"
                onClick={() => onChange(triggers.toSpliced(at, 1))}
              >
                <Icon name="cross" />
              </Button>
            </div>
            <TriggerFields trigger={trigger} onChange={(next) => set(at, next)} />
          </fieldset>
        ))}
        <Button size="small" className="self-start" onClick={() => onChange([...triggers, newTrigger('http')])}>
          <Icon name="plus" className="size-3.5" />
          Add trigger
        </Button>
        <ProblemNote error={error} />
      </div>
    </Panel>
  );
}

function newTrigger(type: DraftTrigger['type']): DraftTrigger {
  return { type, customResponse: false, ...(type === 'timer' ? { intervalSeconds: 3600 } : {}) };
}

interface FieldsProps {
  trigger: DraftTrigger;
  onChange: (trigger: DraftTrigger) => void;
}

function TriggerFields(props: FieldsProps) {
  switch (props.trigger.type) {
    case 'http':
      return <HttpFields {...props} />;
    case 'timer':
      return <TimerFields {...props} />;
    case 'source':
      return <SourceFields {...props} />;
  }
}

function HttpFields({ trigger, onChange }: FieldsProps) {
  const { endpointUrl, customResponse } = trigger;
  return (
    <>
      {endpointUrl === undefined ? (
        <p className="text-sm text-ink-soft">Its URL is made when the workflow is deployed.</p>
      ) : (
        <p className="flex items-center gap-1 font-mono text-xs break-all">
          {endpointUrl}
          <CopyButton text={endpointUrl} what="endpoint URL" />
        </p>
      )}
      <label className="flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={customResponse}
          onChange={({ target }) => onChange({ ...trigger, customResponse: target.checked })}
        />
        A step answers the client, with <code className="font-mono text-xs">$.respond</code>
      </label>
    </>
  );
}

function TimerFields({ trigger, onChange }: FieldsProps) {
  const { cron, timezone, intervalSeconds, ...rest } = trigger;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <div className="flex flex-wrap items-end gap-3">
      <div className="w-40">
        <Field label="Schedule">
          {(ids) => (
            <select
              {...ids}
              className={INPUT_CLASS}
              value={cron === undefined ? 'interval' : 'cron'}
              onChange={({ target }) =>
                onChange(
                  target.value === 'cron'
                    ? { ...rest, cron: '0 9 * * *', timezone: zone }
                    : { ...rest, intervalSeconds: 3600 },
                )
              }
            >
              <option value="interval">every … seconds</option>
              <option value="cron">cron</option>
            </select>
          )}
        </Field>
      </div>
      {cron === undefined ? (
        <div className="w-32">
          <TextField
            label="Seconds"
            type="number"
            min={1}
            value={intervalSeconds ?? ''}
            onChange={({ target }) => onChange({ ...rest, intervalSeconds: Number(target.value) })}
          />
        </div>
      ) : (
        <>
          <div className="w-40">
            <TextField
              label="Cron expression"
              className="font-mono"
              value={cron}
              onChange={({ target }) => onChange({ ...trigger, cron: target.value })}
            />
          </div>
          <div className="w-44">
            <TextField
              label="Time zone"
              placeholder="UTC"
              value={timezone ?? ''}
              onChange={({ target: { value } }) =>
                onChange({ ...rest, cron, ...(value === '' ? {} : { timezone: value }) })
              }
            />
          </div>
        </>
      )}
    </div>
  );
}

function SourceFields({ trigger, onChange }: FieldsProps) {
  const { data: sources = [], error } = useQuery(namesQuery('sources'));
  const { eventName, ...rest } = trigger;
  const [isCreating, setCreating] = useState(false);
  const isOther = trigger.sourceId !== undefined && !sources.some(([id]) => id === trigger.sourceId);
  return (
    <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_auto_minmax(0,1fr)] sm:items-end">
      <Field label="Source">
        {(ids) => (
          <select
            {...ids}
            className={INPUT_CLASS}
            value={trigger.sourceId ?? ''}
            onChange={({ target }) => onChange({ ...trigger, sourceId: target.value })}
          >
            <option value="">Choose a source…</option>
            {isOther && <option value={trigger.sourceId}>{trigger.sourceId}</option>}
            {sources.map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Button className="justify-self-start" onClick={() => setCreating(true)}>
        <Icon name="plus" />
        New source
      </Button>
      <TextField
        label="Channel"
        optional
        placeholder="the default channel"
        value={eventName ?? ''}
        onChange={({ target: { value } }) => onChange({ ...rest, ...(value === '' ? {} : { eventName: value }) })}
      />
      <ProblemNote error={error} />
      {isCreating && (
        <CreateSource
          onClose={() => setCreating(false)}
          onCreated={({ id }) => {
            setCreating(false);
            onChange({ ...trigger, sourceId: id });
          }}
        />
      )}
    </div>
  );
}
