import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api, ask } from '../../api/client.ts';
import { ApiError, messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import type { PropDefinition, PropValues } from '../props/prop-definition.ts';
import { PropForm, useProps } from '../props/prop-form.tsx';
import { codeProblems } from './code-problems.ts';
import { componentQuery, type Source } from './source-queries.ts';

/** Props and code of a source; each is saved by itself, and a save deploys it at once. */
export function SourceConfiguration({ source }: { source: Source }) {
  return (
    // A save brings a new source: the form begins anew with what is stored now.
    <div key={source.updated_at} className="flex flex-col gap-4">
      <Props source={source} />
      <Code source={source} />
    </div>
  );
}

function Props({ source }: { source: Source }) {
  const definitions = source.configurable_props as unknown as PropDefinition[];
  const [state, setState] = useProps(definitions, source.configured_props);
  const [name, setName] = useState(source.name);
  const queries = useQueryClient();
  const body = {
    ...(name === source.name ? {} : { name }),
    configured_props: changedProps(source.configured_props, state.values),
    ...(state.dynamicPropsId === undefined ? {} : { dynamic_props_id: state.dynamicPropsId }),
  };
  const saving = useMutation({
    mutationFn: () => ask(api.PUT('/v1/sources/{id}', { params: { path: { id: source.id } }, body })),
    onSuccess: ({ data }) => {
      queries.setQueryData(['source', source.id], data);
      void queries.invalidateQueries({ queryKey: ['sources'] });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  const isChanged = name !== source.name || Object.keys(body.configured_props).length > 0;
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
        <ProblemNote error={saving.error} />
        <div className="flex items-center gap-3">
          <Button type="submit" kind="primary" busy={saving.isPending} disabled={!isChanged}>
            Save
          </Button>
          {saving.isSuccess && !isChanged && (
            <p role="status" className="text-sm text-good">
              Saved.
            </p>
          )}
        </div>
      </form>
    </Panel>
  );
}

/** What an update has to name: values that differ, and null for those that were taken away. */
function changedProps(before: PropValues, after: PropValues): Record<string, unknown> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]));
}

function Code({ source }: { source: Source }) {
  const component = useQuery(componentQuery(source.component_id));
  return (
    <Panel title="Code">
      <div className="flex flex-col gap-3 p-4">
        <ProblemNote error={component.error} />
        {component.isPending && <SkeletonRows rows={4} />}
        {component.data !== undefined && <CodeForm source={source} deployed={component.data.code} />}
      </div>
    </Panel>
  );
}

function CodeForm({ source, deployed }: { source: Source; deployed: string }) {
  const [code, setCode] = useState(deployed);
  const [isDiff, setDiff] = useState(false);
  const queries = useQueryClient();
  const deploying = useMutation({
    mutationFn: () => {
      const params = { path: { id: source.id } };
      return ask(api.PUT('/v1/sources/{id}', { params, body: { component_code: code } }));
    },
    onSuccess: ({ data }) => queries.setQueryData(['source', source.id], data),
  });
  const isChanged = code !== deployed;
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
      {deploying.error instanceof ApiError && <ProblemNote error={deploying.error} />}
      <div className="flex gap-2">
        <Button kind="primary" disabled={!isChanged} busy={deploying.isPending} onClick={() => deploying.mutate()}>
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
    </>
  );
}
