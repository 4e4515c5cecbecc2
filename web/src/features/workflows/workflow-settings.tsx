import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useEffect, useState } from 'react';
import { api, forState } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Conflict, isConflict } from '../../ui/conflict.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { Workflow } from './workflow-queries.ts';

type Settings = Workflow['settings'];

/**
 * Start and end of executions. A save creates a version with the same steps. Unsaved edits stay
 * when another user changes the settings; the save then shows both versions.
 */
export function WorkflowSettings({ workflow }: { workflow: Workflow }) {
  const [base, setBase] = useState(workflow);
  return <SettingsForm key={base.etag} workflow={base} newest={workflow} onSaved={setBase} />;
}

const readWorkflow = (id: string) => api.tagged('get', '/v1/workflows/{id}', { path: { id } });

const settingsText = (name: string, settings: Settings) => JSON.stringify({ name, settings }, undefined, 2);

interface SettingsFormProps {
  /** The state that the form was begun on, and the one that there is now. */
  workflow: Workflow;
  newest: Workflow;
  onSaved: (workflow: Workflow) => void;
}

function SettingsForm({ workflow, newest, onSaved }: SettingsFormProps) {
  const { id, name: savedName, name_slug: slug, settings: saved } = workflow;
  const [name, setName] = useState(savedName);
  const [settings, setSettings] = useState<Settings>(saved);
  const queries = useQueryClient();
  const changed = changedSettings(saved, settings);
  const body = {
    ...(name === savedName ? {} : { name }),
    ...(Object.keys(changed).length === 0 ? {} : { settings: changed }),
  };
  const isChanged = Object.keys(body).length > 0;
  const take = async (now: Workflow) => {
    queries.setQueryData(['workflow', id], now);
    onSaved(now);
    await queries.invalidateQueries({ queryKey: ['workflows'] });
    await queries.invalidateQueries({ queryKey: ['deployments', id] });
  };
  const put = (over: Workflow) => api.put('/v1/workflows/{id}', { path: { id }, headers: forState(over), body });
  const saving = useMutation({
    mutationFn: async (over: Workflow | undefined) => {
      try {
        await put(over ?? workflow);
      } catch (error) {
        if (over !== undefined || !isConflict(error)) throw error;
        const now = await readWorkflow(id);
        // Other steps are no other settings.
        if (settingsText(now.name, now.settings) !== settingsText(savedName, saved)) throw error;
        await put(now);
      }
      return readWorkflow(id);
    },
    onSuccess: take,
  });
  useEffect(() => {
    if (!isChanged && newest.etag !== workflow.etag) onSaved(newest);
  }, [isChanged, newest, workflow, onSaved]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    saving.mutate(undefined);
  };
  const set = (next: Partial<Settings>) => setSettings({ ...settings, ...next });
  return (
    <Panel
      title="Settings"
      actions={
        <CopyMenu
          command={{
            method: 'PUT',
            path: `/v1/workflows/${id}`,
            body,
            hw: `hw workflows update ${slug} settings.json`,
          }}
        />
      }
    >
      <form onSubmit={submit} noValidate className="flex max-w-2xl flex-col gap-4 p-4">
        <TextField
          label="Name"
          value={name}
          onChange={({ target }) => setName(target.value)}
          errors={messagesFor(saving.error, 'name')}
        />
        <SettingsFields settings={settings} onChange={set} error={saving.error} />
        <label className="flex items-center gap-2 text-sm">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={settings.auto_deploy}
            onChange={({ target }) => set({ auto_deploy: target.checked })}
          />
          A save through the API or hw is deployed at once
        </label>
        <ProblemNote error={isConflict(saving.error) ? null : saving.error} />
        <Button type="submit" kind="primary" className="self-start" busy={saving.isPending} disabled={!isChanged}>
          Save
        </Button>
      </form>
      {isConflict(saving.error) && (
        <Conflict<Workflow>
          mine={settingsText(name, settings)}
          textOf={(theirs) => settingsText(theirs.name, theirs.settings)}
          language="json"
          read={() => readWorkflow(id)}
          busy={saving.isPending}
          onClose={() => saving.reset()}
          onTakeTheirs={(theirs) => void take(theirs)}
          onKeepMine={(theirs) => saving.mutate(theirs)}
        />
      )}
    </Panel>
  );
}

interface FieldsProps {
  settings: Settings;
  onChange: (next: Partial<Settings>) => void;
  error: unknown;
}

function SettingsFields({ settings, onChange: set, error }: FieldsProps) {
  const { throttle } = settings;
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      <CountField
        label="Concurrency"
        help="Executions at the same time; 1: in the order of their events."
        placeholder="no bound"
        value={settings.concurrency}
        onChange={(concurrency) => set({ concurrency })}
        errors={messagesFor(error, 'concurrency')}
      />
      <CountField
        label="Queue limit"
        help="Executions that may wait; a request beyond that is answered 429."
        placeholder="no bound"
        value={settings.queue_limit}
        onChange={(limit) => set({ queue_limit: limit })}
        errors={messagesFor(error, 'queue_limit')}
      />
      <CountField
        label="Throttle"
        help="Executions that may start in an interval; 0 pauses: events wait."
        placeholder="no bound"
        value={throttle?.limit ?? null}
        onChange={(limit) =>
          set({ throttle: limit === null ? null : { limit, interval_seconds: throttle?.interval_seconds ?? 60 } })
        }
        errors={messagesFor(error, 'limit')}
      />
      <CountField
        label="Throttle interval (seconds)"
        value={throttle?.interval_seconds ?? null}
        disabled={throttle === null}
        onChange={(seconds) =>
          throttle !== null && set({ throttle: { limit: throttle.limit, interval_seconds: seconds ?? 60 } })
        }
        errors={messagesFor(error, 'interval_seconds')}
      />
      <CountField
        label="Timeout (seconds)"
        help="What the steps of an execution may run together."
        placeholder="30 for HTTP, else 60"
        value={settings.timeout_seconds}
        onChange={(seconds) => set({ timeout_seconds: seconds })}
        errors={messagesFor(error, 'timeout_seconds')}
      />
      <CountField
        label="Memory (MB)"
        help="Of each step."
        value={settings.memory_mb}
        onChange={(mb) => set({ memory_mb: mb ?? 0 })}
        errors={messagesFor(error, 'memory_mb')}
      />
      <CountField
        label="Retries"
        help="How often a step that fails is tried again, with growing pauses."
        value={settings.retries}
        onChange={(retries) => set({ retries: retries ?? 0 })}
        errors={messagesFor(error, 'retries')}
      />
      <Field label="CORS preflight" description="What becomes of an OPTIONS request of a browser.">
        {(ids) => (
          <select
            {...ids}
            className={INPUT_CLASS}
            value={settings.preflight}
            onChange={({ target }) => set({ preflight: target.value as Settings['preflight'] })}
          >
            <option value="allow">allow it, without an execution</option>
            <option value="run">run the workflow</option>
          </select>
        )}
      </Field>
    </div>
  );
}

interface CountFieldProps {
  label: string;
  help?: string;
  placeholder?: string;
  disabled?: boolean;
  value: number | null;
  onChange: (value: number | null) => void;
  errors: readonly string[];
}

function CountField({ label, help, value, onChange, errors, ...input }: CountFieldProps) {
  return (
    <TextField
      {...input}
      label={label}
      type="number"
      min={0}
      value={value ?? ''}
      errors={errors}
      onChange={({ target }) => onChange(target.value === '' ? null : Number(target.value))}
      {...(help === undefined ? {} : { description: help })}
    />
  );
}

function changedSettings(before: Settings, after: Settings): Partial<Settings> {
  const names = Object.keys(after) as (keyof Settings)[];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name]]));
}
