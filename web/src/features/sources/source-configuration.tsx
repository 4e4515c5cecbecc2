import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useCallback, useEffect, useState } from 'react';
import { api, forState } from '../../api/client.ts';
import { HeadwaterProblem } from '@headwater/client';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { Conflict, isConflict } from '../../ui/conflict.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import type { PropDefinition, PropValues } from '../props/prop-definition.ts';
import { PropForm, useProps } from '../props/prop-form.tsx';
import { codeProblems } from './code-problems.ts';
import { componentQuery, type Source } from './source-queries.ts';

interface PartProps {
  source: Source;
  onSaved: (source: Source) => void;
  /** Whether it holds unsaved changes. */
  onDirty: (isDirty: boolean) => void;
}

/**
 * Props and code of a source. Each is saved separately, and a save deploys at once. Unsaved edits
 * stay when another user changes the source; the save then shows both versions.
 */
export function SourceConfiguration({ source }: { source: Source }) {
  const [base, setBase] = useState(source);
  const [dirty, setDirty] = useState({ props: false, code: false });
  const isDirty = dirty.props || dirty.code;
  useEffect(() => {
    if (!isDirty) setBase(source);
  }, [isDirty, source]);
  const onPropsDirty = useCallback((props: boolean) => setDirty((old) => ({ ...old, props })), []);
  const onCodeDirty = useCallback((code: boolean) => setDirty((old) => ({ ...old, code })), []);
  const queries = useQueryClient();
  const onSaved = (saved: Source) => {
    setBase(saved);
    queries.setQueryData(['source', source.id], saved);
    void queries.invalidateQueries({ queryKey: ['sources'] });
  };
  return (
    <div className="flex flex-col gap-4">
      <Props key={`props ${base.updated_at} ${base.etag}`} source={base} onSaved={onSaved} onDirty={onPropsDirty} />
      <Code key={`code ${base.component_id}`} source={base} onSaved={onSaved} onDirty={onCodeDirty} />
    </div>
  );
}

function useSaving(source: Source, onSaved: (source: Source) => void) {
  return useMutation({
    mutationFn: ({ body, over = source }: { body: object; over?: Source }) =>
      api.tagged('put', '/v1/sources/{id}', { path: { id: source.id }, headers: forState(over), body }),
    onSuccess: onSaved,
  });
}

const readSource = (id: string) => api.tagged('get', '/v1/sources/{id}', { path: { id } });

function Props({ source, onSaved, onDirty }: PartProps) {
  const definitions = source.configurable_props as unknown as PropDefinition[];
  const [state, setState] = useProps(definitions, source.configured_props);
  const [name, setName] = useState(source.name);
  const [endpoint, setEndpoint] = useState<EndpointSettings>({
    preflight: source.preflight,
    durability: source.durability,
  });
  const changedEndpoint = {
    ...(endpoint.preflight === source.preflight ? {} : { preflight: endpoint.preflight }),
    ...(endpoint.durability === source.durability ? {} : { durability: endpoint.durability }),
  };
  const body = {
    ...(name === source.name ? {} : { name }),
    ...changedEndpoint,
    configured_props: changedProps(source.configured_props, state.values),
    ...(state.dynamicPropsId === undefined ? {} : { dynamic_props_id: state.dynamicPropsId }),
  };
  const saving = useSaving(source, onSaved);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    saving.mutate({ body });
  };
  const isChanged =
    name !== source.name || Object.keys(changedEndpoint).length > 0 || Object.keys(body.configured_props).length > 0;
  useEffect(() => onDirty(isChanged), [onDirty, isChanged]);
  return (
    <Panel
      title="Props"
      actions={
        <CopyMenu
          command={{ method: 'PUT', path: `/v1/sources/${source.id}`, body, hw: `hw update ${source.name_slug}` }}
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
        <PropForm
          componentId={source.component_id}
          sourceId={source.id}
          state={state}
          onChange={setState}
          error={saving.error}
        />
        {definitions.some(({ type }) => type === '$.interface.http') && (
          <EndpointFields settings={endpoint} onChange={setEndpoint} />
        )}
        <ProblemNote error={isConflict(saving.error) ? null : saving.error} />
        <div className="flex items-center gap-3">
          <Button type="submit" kind="primary" busy={saving.isPending} disabled={!isChanged}>
            Save
          </Button>
        </div>
      </form>
      {isConflict(saving.error) && (
        <Conflict<Source>
          mine={JSON.stringify({ name, ...changedEndpoint, ...state.values }, null, 2)}
          textOf={(theirs) => JSON.stringify({ name: theirs.name, ...theirs.configured_props }, null, 2)}
          language="json"
          read={() => readSource(source.id)}
          busy={saving.isPending}
          onClose={() => saving.reset()}
          onTakeTheirs={onSaved}
          onKeepMine={(theirs) => saving.mutate({ body, over: theirs })}
        />
      )}
    </Panel>
  );
}

type EndpointSettings = Pick<Source, 'preflight' | 'durability'>;

function EndpointFields({
  settings,
  onChange,
}: {
  settings: EndpointSettings;
  onChange: (settings: EndpointSettings) => void;
}) {
  return (
    <>
      <Field label="CORS preflight" description="What becomes of an OPTIONS request of a browser.">
        {(ids) => (
          <select
            {...ids}
            className={INPUT_CLASS}
            value={settings.preflight}
            onChange={({ target }) =>
              onChange({ ...settings, preflight: target.value as EndpointSettings['preflight'] })
            }
          >
            <option value="allow">allow it, without a run</option>
            <option value="run">run the source</option>
          </select>
        )}
      </Field>
      <Field label="Durability" description="What survives a crash of the server while a request is under way.">
        {(ids) => (
          <select
            {...ids}
            className={INPUT_CLASS}
            value={settings.durability}
            onChange={({ target }) =>
              onChange({ ...settings, durability: target.value as EndpointSettings['durability'] })
            }
          >
            <option value="stored">the request: it is stored before its run</option>
            <option value="none">only what its run has committed; faster</option>
          </select>
        )}
      </Field>
    </>
  );
}

/** Props for an update: changed values, and null for removed ones. */
function changedProps(before: PropValues, after: PropValues): Record<string, unknown> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]));
}

function Code(props: PartProps) {
  const component = useQuery(componentQuery(props.source.component_id));
  return (
    <Panel title="Code">
      <div className="flex flex-col gap-3 p-4">
        <ProblemNote error={component.error} />
        {component.isPending && <SkeletonRows rows={4} />}
        {component.data !== undefined && <CodeForm {...props} deployed={component.data.code} />}
      </div>
    </Panel>
  );
}

const codeOf = async ({ component_id: id }: Source) =>
  (await api.get('/v1/components/{id}', { path: { id } })).data.code;

function CodeForm({ source, deployed, onSaved, onDirty }: PartProps & { deployed: string }) {
  const [code, setCode] = useState(deployed);
  const [isDiff, setDiff] = useState(false);
  const deploying = useSaving(source, onSaved);
  const body = { component_code: code };
  const isChanged = code !== deployed;
  useEffect(() => onDirty(isChanged), [onDirty, isChanged]);
  return (
    <>
      <CodeView
        value={code}
        label="Code"
        language="typescript"
        onChange={setCode}
        problems={codeProblems(deploying.error)}
        {...(isDiff ? { original: deployed } : {})}
      />
      {deploying.error instanceof HeadwaterProblem && !isConflict(deploying.error) && (
        <ProblemNote error={deploying.error} />
      )}
      <div className="flex gap-2">
        <Button
          kind="primary"
          disabled={!isChanged}
          busy={deploying.isPending}
          onClick={() => deploying.mutate({ body })}
        >
          Deploy
        </Button>
        <Button disabled={!isChanged} aria-pressed={isDiff} onClick={() => setDiff(!isDiff)}>
          Show changes
        </Button>
        {isChanged && (
          <Button kind="quiet" onClick={() => setCode(deployed)}>
            Discard
          </Button>
        )}
      </div>
      {isConflict(deploying.error) && (
        <Conflict<{ source: Source; code: string }>
          mine={code}
          textOf={(theirs) => theirs.code}
          language="typescript"
          read={async () => {
            const now = await readSource(source.id);
            return { source: now, code: await codeOf(now) };
          }}
          busy={deploying.isPending}
          onClose={() => deploying.reset()}
          onTakeTheirs={(theirs) => {
            setCode(theirs.code);
            onSaved(theirs.source);
            deploying.reset();
          }}
          onKeepMine={(theirs) => deploying.mutate({ body, over: theirs.source })}
        />
      )}
    </>
  );
}
